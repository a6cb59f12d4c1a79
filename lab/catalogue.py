"""The message catalogues of the report: PO files, a file for each module that says something."""

from pathlib import Path

from babel.messages.pofile import read_po

MESSAGES = Path(__file__).parent / "messages"
LANGUAGES = ("zh",)  # besides English


def read(language: str) -> dict[str, str]:
    """Return all translations of a language by their English text."""
    found: dict[str, str] = {}
    for path in sorted((MESSAGES / language).glob("*.po")):
        with path.open("rb") as file:
            found |= {str(m.id): str(m.string) for m in read_po(file, locale=language) if m.id and m.string}
    return found
