"""The parts of a report page besides its text: figures, and explorables with their controls."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

Draw = Callable[[Path], None]  # writes an SVG file with words in the current language


@dataclass(frozen=True)
class Figure:
    """A figure; the page's text has its title and caption.

    Attributes:
        name: the stem of its files.
        panels: each writes a separate file, at most `figures.WIDTH` inches wide: a page sets them
            side by side where it has room, and one under the other on a phone.
        card: writes the figure under a title as a PNG, for previews of links.
    """

    name: str
    panels: Sequence[Draw]
    card: Callable[[str, Path], None] | None = None

    @property
    def files(self) -> list[str]:
        if len(self.panels) == 1:
            return [f"{self.name}.svg"]
        return [f"{self.name}_{n}.svg" for n in range(1, len(self.panels) + 1)]

    def draw(self, folder: Path) -> None:
        """Write all panels into a folder."""
        for file, draw in zip(self.files, self.panels, strict=True):
            draw(folder / file)


@dataclass(frozen=True)
class Slider:
    """A control of an explorable for a number: a slider, and a field that goes beyond its range.

    Attributes:
        step: distance between stops; None if the slider stops at any number of three digits.
        log: whether `low`, `high`, `value` and `step` are decimal logarithms.
        whole: whether the number is a whole number.
        least: the smallest number that may be typed, where the formulas do not hold below it.
        most: the largest number that may be typed.
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
        """Return a logarithmic slider for any number from `low` to `high`."""
        first, last, place = (math.log10(x) for x in (low, high, min(max(value, low), high)))
        return cls(name, label, first, last, place, None, unit, log=True, whole=whole)

    @classmethod
    def by_factors(
        cls, name: str, label: str, low: float, high: float, value: float, factor: float
    ) -> "Slider":
        """Return a slider for whole numbers from `low` to `high`, in factors through `value`."""
        step, place = math.log10(factor), math.log10(min(max(value, low), high))
        below = int((place - math.log10(low)) / step + 1e-9)
        above = int((math.log10(high) - place) / step + 1e-9)
        first, last = place - below * step, place + above * step
        # a browser drops a stop that lies beyond the end, even by a rounding error
        end = last + step / 1000
        return cls(name, label, first, end, place, step, log=True, whole=True)


def three_digits(x: float) -> float:
    """Round a number to three digits, so that a control shows every digit it computes with."""
    return float(f"{x:.3g}")


@dataclass(frozen=True)
class Choice:
    """A control of an explorable for one of several values, each with its label."""

    name: str
    label: str
    options: Mapping[str, str]
    value: str


@dataclass(frozen=True)
class Explorable:
    """An interactive model: a JavaScript function with its controls and outputs.

    The page's text has its title and says how to read it.

    Attributes:
        name: of `stages/<stage>/page/<name>.js`, which registers a function of that name.
        controls: the controls that are always visible.
        more: folded controls that few readers need.
        presets: buttons, each with the values that it gives to controls.
        outputs: labels of the computed numbers, by name.
        words: texts in its picture, by the script's names for them.
        data: measured numbers to show next to the computed ones.
    """

    name: str
    controls: Sequence[Slider | Choice]
    outputs: Mapping[str, str]
    more: Sequence[Slider | Choice] = ()
    presets: Mapping[str, Mapping[str, float | str]] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    data: Mapping[str, object] = field(default_factory=dict)
