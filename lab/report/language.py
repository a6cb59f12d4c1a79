"""The language of a page, and the words that are no page's text: of claims, figures and controls.

`say("synchronized after {n}", n=3)` gives the English words, or the catalogue's, with the same
placeholders filled in. Each folder that has such words has its own `words.yaml`, a line for each:
`English: Chinese`, read by `stages.report.catalogue`; a test finds every message of the sources
there. What a page tells stands in its Markdown files, one for each language (`lab.report.prose`),
and claims have both in claims.yaml.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

ENGLISH, CHINESE = "en", "zh"
SUPERSCRIPTS = str.maketrans("-.0123456789", "⁻·⁰¹²³⁴⁵⁶⁷⁸⁹")
_spoken: ContextVar[tuple[str, Mapping[str, str]]] = ContextVar("spoken", default=(ENGLISH, {}))


@contextmanager
def speaking(language: str, catalogue: Mapping[str, str]) -> Iterator[None]:
    """Have `say` speak another language, for as long as the context lasts."""
    token = _spoken.set((language, catalogue))
    try:
        yield
    finally:
        _spoken.reset(token)


def language() -> str:
    """The code of the language that is spoken."""
    return _spoken.get()[0]


def translation(message: str) -> str:
    """A message in the language that is spoken, placeholders kept; English if it has none."""
    return _spoken.get()[1].get(message, message)


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
    """A text in the language that is spoken."""
    return text.zh if language() == CHINESE else text.en


def section_number(sections: str) -> str:
    """Sections of the book in the edition of the language that is spoken: `12.3`, `13.5, 13.6`.

    The Chinese edition has one chapter fewer before those on optimization and on performance; its
    section on Fashion-MNIST is 3.5.
    """
    if language() == ENGLISH:
        return sections
    if sections == "4.2":
        return "3.5"
    return re.sub(r"(?<![.\d])\d+", lambda chapter: str(int(chapter[0]) - 1), sections)


def section_list(sections: Iterable[str]) -> str:
    """Several sections, in the numbers of the edition of the language that is spoken."""
    return ("、" if language() == CHINESE else ", ").join(map(section_number, sections))


def in_markdown(text: object) -> str:
    """A text within a line of Markdown, where it makes no tags, links, code, lines or cells."""
    shown = re.sub(r"([\\`*\[\]|])", r"\\\1", " ".join(str(text).splitlines()))
    return shown.replace("&", "&amp;").replace("<", "&lt;")


def superscript(number: str) -> str:
    """A number as an exponent."""
    return number.translate(SUPERSCRIPTS)
