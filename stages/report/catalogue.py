"""The Chinese of claims, figures and controls: a zh.po in each folder that has such words."""

from io import BytesIO
from pathlib import Path

from babel.core import UnknownLocaleError
from babel.messages.pofile import PoFileError, read_po

from lab.core.errors import MachineError

ROOT = Path(__file__).resolve().parents[2]


def files(language: str) -> list[Path]:
    """The files that hold a language's translations."""
    return sorted(
        path
        for pattern in ("lab/*", "stages/*/page", "stages/report")
        for path in ROOT.glob(f"{pattern}/{language}.po")
    )


def read(language: str) -> dict[str, str]:
    """All translations of a language by their English text.

    Raises:
        MachineError: a file is damaged.
    """
    found: dict[str, str] = {}
    for path in files(language):
        try:
            file = BytesIO(path.read_bytes())
            catalogue = read_po(file, locale=language, abort_invalid=True)
        except (PoFileError, UnknownLocaleError, ValueError, LookupError, OSError) as error:
            raise MachineError(
                f"{path}: damaged ({error!r}); `git checkout {path}` brings it back"
            ) from None
        found |= {str(m.id): str(m.string) for m in catalogue if m.id and m.string}
    return found
