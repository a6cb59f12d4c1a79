"""The five course notes, and places in them: `000:427` or `001:62-70`, separated by blanks.

`book:13.5` is a section of the book. Line numbers are those of the notes as text files.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Note:
    """A course note: its title and its number of lines."""

    title: str
    lines: int


NOTES = {
    "000": Note(
        "Compilers, asynchronous computation, automatic parallelism, training on several GPUs", 560
    ),
    "001": Note("Optimization algorithms and computational performance", 685),
    "002": Note("Training on several GPUs, from scratch and concisely", 333),
    "003": Note("A concise implementation for several GPUs", 100),
    "004": Note("Training on several GPUs: a notebook", 141),
}
BOOK = "book"
_PLACE = re.compile(r"(00[0-4]):(\d+)(?:-(\d+))?|book:(1[23]\.\d{1,2})")


@dataclass(frozen=True)
class Place:
    """Lines of a note, or a section of the book's notebooks (`first` and `last` are 0)."""

    source: str
    first: int = 0
    last: int = 0
    section: str = ""


def places_of(text: str) -> Iterator[Place]:
    """Yield the places that a text names.

    Raises:
        ValueError: the text names no place, or one that does not exist.
    """
    if not text.split():
        raise ValueError("expected a place such as 000:427")
    for word in text.split():
        found = _PLACE.fullmatch(word)
        if not found:
            raise ValueError(f"expected a place such as 000:427, got {word!r}")
        note, first, last, section = found.groups()
        if section:
            yield Place(BOOK, section=section)
            continue
        start, end = int(first), int(last or first)
        if not 1 <= start <= end <= NOTES[note].lines:
            raise ValueError(f"{word}: note {note} has lines 1 to {NOTES[note].lines}")
        yield Place(note, start, end)
