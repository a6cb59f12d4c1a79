"""What the report is made of: a section per stage, with sentences, figures and tables, as plain values."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Figure:
    """A drawn figure: its file's stem under reports/figures, what it shows in words, and how to read it."""

    name: str
    alt: str
    caption: str


@dataclass(frozen=True)
class Link:
    """A table's cell that names a stage and leads to its section."""

    stage: str

    def __str__(self) -> str:
        """Return the name alone, where there is nothing to lead to."""
        return self.stage


@dataclass(frozen=True)
class Table:
    """A table whose first column is text, or all columns are in one of `prose`; `note` says how to read it."""

    header: Sequence[str]
    rows: Sequence[Sequence[str | Link]]
    note: str
    prose: bool = False


@dataclass(frozen=True)
class Section:
    """One stage's part of the page. `findings` are sentences with measured numbers, `try_this` a params change."""

    stage: str
    title: str
    book: str
    question: str
    findings: Sequence[str]
    figures: Sequence[Figure]
    tables: Sequence[Table] = field(default=())
    try_this: str = ""
