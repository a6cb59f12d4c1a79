"""The language of a page, and the words that are no page's text: of claims, figures and controls.

`say("synchronized after {n}", n=3)` gives the English words, or the catalogue's, with the same
placeholders filled in. Each folder that has such words has its own `words.yaml`, a line for each:
`English: Chinese`; a test finds every message of the sources there. What a page tells stands in its
Markdown files, one for each language (`lab.report.prose`), and claims have both in claims.yaml.
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
def speaking(language: str) -> Iterator[None]:
    """Have `say` speak another language, for as long as the context lasts."""
    token = _spoken.set(language)
    try:
        yield
    finally:
        _spoken.reset(token)


def language() -> str:
    """The code of the language that is spoken."""
    return _spoken.get()


@functools.cache
def catalogue() -> Mapping[str, str]:
    """The Chinese of all messages.

    Raises:
        ParamsError: a words.yaml is damaged.
    """
    files = sorted(file for each in WORDS for file in ROOT.glob(f"{each}/words.yaml"))
    return {english: chinese for file in files for english, chinese in read_yaml(file).items()}


def translation(message: str) -> str:
    """A message in the language that is spoken, placeholders kept; English if it has none."""
    return message if language() == ENGLISH else catalogue().get(message, message)


def say(message: str, /, **values: object) -> str:
    """A message in the language that is spoken, its placeholders filled in."""
    return translation(message).format(**values)


class Localized(Protocol):
    """A text in both languages."""

    @property
    def en(self) -> str: ...

    @property
    def zh(self) -> str: ...


def localized(text: Localized) -> str:
    """A text in the language that is spoken; in English if it has no other."""
    return (language() == CHINESE and text.zh) or text.en


def in_markdown(text: object) -> str:
    """A text within a line of Markdown, where it makes no tags, links, code, lines or cells."""
    shown = re.sub(r"([\\`*\[\]|])", r"\\\1", " ".join(str(text).splitlines()))
    return shown.replace("&", "&amp;").replace("<", "&lt;")


def superscript(number: str) -> str:
    """A number as an exponent."""
    return number.translate(SUPERSCRIPTS)
