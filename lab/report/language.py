"""The language of a page, and the words outside its text: of claims, figures and controls.

`say("synchronized after {n}", n=3)` returns the English words, or the catalogue's Chinese, with the
placeholders filled in. Each folder with such words has a `words.yaml` with a line
`English: Chinese` for each; a test checks that every message is there. A page's text is in its
Markdown files, one per language (`lab.report.prose`), and claims have both in claims.yaml.
"""

import functools
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Protocol

from lab.core.params import read_yaml

ENGLISH, CHINESE = "en", "zh"
ROOT = Path(__file__).resolve().parents[2]
WORDS = ("lab/*", "stages/*/page", "stages/report")  # folders with a words.yaml
SUPERSCRIPTS = str.maketrans("-.0123456789", "⁻·⁰¹²³⁴⁵⁶⁷⁸⁹")
_spoken: ContextVar[str] = ContextVar("spoken", default=ENGLISH)


@contextmanager
def locale(language: str) -> Iterator[None]:
    """Set the language within the context."""
    token = _spoken.set(language)
    try:
        yield
    finally:
        _spoken.reset(token)


def language() -> str:
    return _spoken.get()


@functools.cache
def catalogue() -> Mapping[str, str]:
    """Return the Chinese of all messages.

    Raises:
        ParamsError: a words.yaml is damaged.
    """
    files = sorted(file for each in WORDS for file in ROOT.glob(f"{each}/words.yaml"))
    return {english: chinese for file in files for english, chinese in read_yaml(file).items()}


def translation(message: str) -> str:
    """Return a message in the current language, placeholders kept; English if untranslated."""
    return message if language() == ENGLISH else catalogue().get(message, message)


def say(message: str, /, **values: object) -> str:
    """Return a message in the current language with its placeholders filled in."""
    return translation(message).format(**values)


class Localized(Protocol):
    @property
    def en(self) -> str: ...

    @property
    def zh(self) -> str: ...


def localized(text: Localized) -> str:
    """Return a text in the current language; English if it has no Chinese."""
    return (language() == CHINESE and text.zh) or text.en


def in_markdown(text: object) -> str:
    """Escape a text for a line of Markdown: no tags, links, code, line breaks or cells."""
    shown = re.sub(r"([\\`*\[\]|])", r"\\\1", " ".join(str(text).splitlines()))
    return shown.replace("&", "&amp;").replace("<", "&lt;")


def superscript(number: str) -> str:
    return number.translate(SUPERSCRIPTS)
