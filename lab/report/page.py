"""What the report is made of: a section per stage, of sentences, figures and tables.

All texts are in the language of the page already (`lab.report.language.say`), but for names that
programs use.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

Draw = Callable[[Path], None]  # writes an SVG file, its words in the language that is spoken


@dataclass(frozen=True)
class Figure:
    """A figure: its file's stem, what it shows in words, how to read it, and who draws it.

    Its panels are files of their own, at most `figures.WIDTH` inches wide: a page sets them side by
    side where it has room, and one under the other on a phone.
    """

    name: str
    alt: str
    caption: str
    panels: Sequence[Draw]

    @property
    def files(self) -> list[str]:
        """The panels' files."""
        if len(self.panels) == 1:
            return [f"{self.name}.svg"]
        return [f"{self.name}_{n}.svg" for n in range(1, len(self.panels) + 1)]

    def draw(self, folder: Path) -> None:
        """Write all panels into a folder."""
        for file, draw in zip(self.files, self.panels, strict=True):
            draw(folder / file)


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
    """A change of params.yaml to predict the outcome of, then to try.

    Attributes:
        key: a dotted key.
        value: its value as YAML.
        question: what the reader is to guess.
        expected: what the change does, and why.
    """

    key: str
    value: str
    question: str
    expected: str


@dataclass(frozen=True)
class Headline:
    """A result for the first screen: a number with what its brackets hold, and one sentence."""

    number: str
    spread: str
    says: str


@dataclass(frozen=True)
class Slider:
    """A control of an explorable: a number in a range; if `log` its decimal logarithm in one."""

    name: str
    label: str
    low: float
    high: float
    value: float
    step: float
    unit: str = ""
    log: bool = False

    @classmethod
    def by_factors(
        cls,
        name: str,
        label: str,
        low: float,
        high: float,
        value: float,
        factor: float,
        unit: str = "",
    ) -> "Slider":
        """One in steps of a factor, through `value` and as far as `low` and `high`."""
        step, place = math.log10(factor), math.log10(min(max(value, low), high))
        below = int((place - math.log10(low)) / step + 1e-9)
        above = int((math.log10(high) - place) / step + 1e-9)
        first, last = place - below * step, place + above * step
        # a browser has no stop beyond the end, by however little it is
        return cls(name, label, first, last + step / 1000, place, step, unit, log=True)


@dataclass(frozen=True)
class Choice:
    """A control of an explorable: one of several values, each with its label."""

    name: str
    label: str
    options: Mapping[str, str]
    value: str


@dataclass(frozen=True)
class Explorable:
    """Something to play with: a function of JavaScript, what moves it and what it tells.

    Attributes:
        name: of `stages/<stage>/<name>.js`, which registers a function of that name.
        title: what can be tried.
        controls: what the reader moves.
        outputs: labels of the numbers it tells, by their names.
        words: what it writes into its picture, by the names that the script has for it.
        data: measured numbers that it shows beside what it computes.
        how: how to read it, and which formula it computes.
    """

    name: str
    title: str
    controls: Sequence[Slider | Choice]
    outputs: Mapping[str, str]
    how: str
    words: Mapping[str, str] = field(default_factory=dict)
    data: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Section:
    """One stage's part of the page.

    Attributes:
        answer: one sentence of at most 25 words with its number.
        findings: more sentences with measured numbers, each as short.
        figures: the first stands open under the answer, the others are folded with the findings.
        headline: what the section adds to the first screen, if it does.
        of_times: whether all that it tells rests on times; if not, it sees itself to leaving out
            what does, where times decide nothing.
    """

    stage: str
    title: str
    book: str
    question: str
    answer: str
    findings: Sequence[str]
    figures: Sequence[Figure]
    tables: Sequence[Table] = ()
    try_this: TryThis | None = None
    headline: Headline | None = None
    explorables: Sequence[Explorable] = ()
    of_times: bool = True
