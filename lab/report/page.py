"""What a page of the report is made of beside its text: figures, and things to play with."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

Draw = Callable[[Path], None]  # writes an SVG file, its words in the language that is spoken


@dataclass(frozen=True)
class Figure:
    """A figure: its file's stem, and who draws it. Its title and caption stand in the page's text.

    Its `card`, if it has one, writes it under its title as a PNG, for previews of links. Its panels
    are files of their own, at most `figures.WIDTH` inches wide: a page sets them side by side where
    it has room, and one under the other on a phone.
    """

    name: str
    panels: Sequence[Draw]
    card: Callable[[str, Path], None] | None = None

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
class Slider:
    """A control of an explorable: a number in a range, or typed, also beyond the range.

    Attributes:
        step: from one stop to the next; None if it stops anywhere, at numbers of three digits.
        log: whether `low`, `high`, `value` and `step` are decimal logarithms.
        whole: whether the number is a whole one.
        least: the smallest number that may be typed, where the formulas do not hold below it.
        most: the largest one.
    """

    name: str
    label: str
    low: float
    high: float
    value: float
    step: float | None
    unit: str = ""
    log: bool = False
    whole: bool = False
    least: float | None = None
    most: float | None = None

    @classmethod
    def over_decades(
        cls,
        name: str,
        label: str,
        low: float,
        high: float,
        value: float,
        unit: str = "",
        whole: bool = False,
    ) -> "Slider":
        """One for any number from `low` to `high`, each decade as long as any other."""
        first, last, place = (math.log10(x) for x in (low, high, min(max(value, low), high)))
        return cls(name, label, first, last, place, None, unit, log=True, whole=whole)

    @classmethod
    def by_factors(
        cls, name: str, label: str, low: float, high: float, value: float, factor: float
    ) -> "Slider":
        """One for whole numbers in steps of a factor, through `value`, from `low` to `high`."""
        step, place = math.log10(factor), math.log10(min(max(value, low), high))
        below = int((place - math.log10(low)) / step + 1e-9)
        above = int((math.log10(high) - place) / step + 1e-9)
        first, last = place - below * step, place + above * step
        # a browser has no stop beyond the end, by however little it is
        end = last + step / 1000
        return cls(name, label, first, end, place, step, log=True, whole=True)


def three_digits(x: float) -> float:
    """A measured number as a control has it, which shows all the digits that it computes with."""
    return float(f"{x:.3g}")


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

    Its title, and how to read it, stand in the page's text.

    Attributes:
        name: of `stages/<stage>/page/<name>.js`, which registers a function of that name.
        controls: what the reader moves.
        more: what few readers move, folded.
        presets: buttons, each with the values that it gives to controls.
        outputs: labels of the numbers it tells, by their names.
        words: what it writes into its picture, by the names that the script has for it.
        data: measured numbers that it shows beside what it computes.
    """

    name: str
    controls: Sequence[Slider | Choice]
    outputs: Mapping[str, str]
    more: Sequence[Slider | Choice] = ()
    presets: Mapping[str, Mapping[str, float | str]] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    data: Mapping[str, object] = field(default_factory=dict)
