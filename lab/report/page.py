"""What the report is made of: a section per stage, of sentences, figures and tables.

All texts are in the language of the page already (`lab.report.language.say`), but for names that
programs use.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Figure:
    """A figure: its file's stem, what it shows in words, how to read it, and who draws it.

    It is drawn once, in English; `stages.report.translated_svg` translates the labels of the file.
    """

    name: str
    alt: str
    caption: str
    draw: Callable[[Path], None]


@dataclass(frozen=True)
class Link:
    """A table's cell that names a stage and leads to its section."""

    stage: str

    def __str__(self) -> str:
        """The name alone, where there is nothing to lead to."""
        return self.stage


@dataclass(frozen=True)
class Table:
    """A table and how to read it; its first column is text, in one of `prose` all columns are."""

    header: Sequence[str]
    rows: Sequence[Sequence[str | Link]]
    note: str
    prose: bool = False


@dataclass(frozen=True)
class TryThis:
    """A change of params.yaml worth trying: a dotted key, its value as YAML, what to look for."""

    key: str
    value: str
    why: str


@dataclass(frozen=True)
class Section:
    """One stage's part of the page. `findings` are sentences with measured numbers."""

    stage: str
    title: str
    book: str
    question: str
    findings: Sequence[str]
    figures: Sequence[Figure]
    tables: Sequence[Table] = field(default=())
    try_this: TryThis | None = None
