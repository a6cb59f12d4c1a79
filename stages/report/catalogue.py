"""The message catalogues of the report: a zh.po in each folder that says something."""

from pathlib import Path

from babel.messages.pofile import read_po

ROOT = Path(__file__).resolve().parents[2]
CHINESE = "zh"  # besides English


def files(language: str) -> list[Path]:
    """The files that hold a language's translations."""
    return sorted(
        path for room in ("lab", "stages") for path in (ROOT / room).glob(f"*/{language}.po")
    )


def read(language: str) -> dict[str, str]:
    """All translations of a language by their English text."""
    found: dict[str, str] = {}
    for path in files(language):
        with path.open("rb") as file:
            found |= {
                str(m.id): str(m.string)
                for m in read_po(file, locale=language)
                if m.id and m.string
            }
    return found
