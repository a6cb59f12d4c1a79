"""Numbers as the pages write them: as many digits as were measured, the interval beside them.

The filters of the Markdown files. They take a number, or a finding, which has an interval.
"""

import math
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context

from lab.report.language import CHINESE, language, say, superscript
from lab.results.findings import Finding
from lab.results.stats import FEWEST

MOST_DIGITS = 4
UNITS = ((1.0, "s", "秒"), (1e-3, "ms", "毫秒"), (1e-6, "µs", "微秒"), (1e-9, "ns", "纳秒"))


def interval(x: Finding | float) -> Finding:
    """A number as a finding; without an interval, both ends are the number."""
    return x if isinstance(x, Finding) else Finding(float(x), float(x), float(x))


def number(x: Finding | float, digits: int = 0) -> str:
    """A number: 1.7, 12,300, 4.2×10⁻⁸.

    Args:
        x: the number; an `int` is counted and written whole.
        digits: significant ones; 0 for two, or as many more as its interval is narrow.
    """
    if isinstance(x, int) and not digits:
        return f"{x:,}".replace("-", "−")
    return _rounded(interval(x).value, digits or _digits(interval(x)))


def span(x: Finding | float, digits: int = 0, unit: str = "") -> str:
    """The interval of a number: 1.2–2.0; of few samples what it is instead: 1.2–2.0 in 3 samples.

    Args:
        x: the number.
        digits: significant ones; 0 for two, or as many more as the interval is narrow.
        unit: what stands behind the ends.
    """
    found = interval(x)
    if found.n == 1:
        return say("one sample")
    low, high = (_rounded(end, digits or _digits(found)) for end in (found.low, found.high))
    ends = f"{low}–{high}" if found.low >= 0 else say("{low} to {high}", low=low, high=high)
    if 0 < found.n < FEWEST:
        return say("{ends} in {n} samples", ends=ends + unit, n=found.n)
    return ends + unit


def named_span(x: Finding | float, digits: int = 0, unit: str = "") -> str:
    """The same, with the chance that it holds the true median: 99% interval 1.2–2.0."""
    ends = span(x, digits, unit)
    return ends if 0 < interval(x).n < FEWEST else say("99% interval {ends}", ends=ends)


def percent(x: Finding | float, digits: int = 0) -> str:
    """A share as percent: 83%."""
    return number(_by(x, 100), digits) + "%"


def percent_span(x: Finding | float, digits: int = 0) -> str:
    """The interval of a share as percent: 81–85%."""
    return span(_by(x, 100), digits, "%")


def duration(seconds: Finding | float, digits: int = 0) -> str:
    """Seconds in the unit that suits them: 12.7 s, 37 µs."""
    found, unit = _in_unit(interval(seconds))
    return f"{number(found, digits)} {unit}"


def duration_span(seconds: Finding | float, digits: int = 0) -> str:
    """The interval of seconds in the unit of their median: 35–41 µs."""
    found, unit = _in_unit(interval(seconds))
    return span(found, digits, f" {unit}")


def which(ratio: Finding, faster: str, undecided: str, slower: str) -> str:
    """The words for what a ratio says of its new side."""
    return {"faster": faster, "slower": slower}.get(ratio.verdict, undecided)


FILTERS: dict[str, Callable[..., str]] = {
    "which": which,
    "number": number,
    "span": span,
    "interval": named_span,
    "percent": percent,
    "percent_span": percent_span,
    "duration": duration,
    "duration_span": duration_span,
}


def _in_unit(seconds: Finding) -> tuple[Finding, str]:
    """Seconds in the unit that suits their median, and its name."""
    size, unit, chinese = next(
        (each for each in UNITS if abs(seconds.value) >= 0.9995 * each[0]), UNITS[-1]
    )
    return _by(seconds, 1 / size), chinese if language() == CHINESE else unit


def _by(x: Finding | float, factor: float) -> Finding:
    return interval(x) * factor


def _digits(found: Finding) -> int:
    """Two, or as many as it takes to tell the ends of a narrow interval apart."""
    width = found.high - found.low
    if not width or not found.value or not math.isfinite(width):
        return 2
    return min(MOST_DIGITS, max(2, math.ceil(-math.log10(width / abs(found.value)))))


def digits_beside(x: Finding | float, *limits: float) -> int:
    """The digits that a number is written with beside limits: rounding moves no end across one."""
    found = interval(x)
    fewest = _digits(found)
    for digits in range(fewest, MOST_DIGITS):
        ends = ((end, _significant(end, digits)) for end in (found.low, found.high))
        if all(_side(end, limit) == _side(near, limit) for end, near in ends for limit in limits):
            return digits
    return max(fewest, MOST_DIGITS)


def _side(x: float, limit: float) -> int:
    """Whether a number is above a limit, below it, or on it."""
    return (x > limit) - (x < limit)


def _significant(x: float, digits: int) -> float:
    """A number rounded to significant digits: 0.585 to 0.59, although its float is below 0.585."""
    return float(Context(prec=digits, rounding=ROUND_HALF_UP).create_decimal(repr(float(x))))


def _rounded(x: float, digits: int) -> str:
    if x == 0 or not math.isfinite(x):
        return "0" if x == 0 else str(x).replace("inf", "∞").replace("-", "−")
    rounded = _significant(x, digits)
    power = math.floor(math.log10(abs(rounded)))
    if not -4 < power < 6:
        mantissa = f"{rounded / 10.0**power:.{digits - 1}f}"
        return f"{mantissa}×10{superscript(str(power))}".replace("-", "−")
    return f"{rounded:,.{max(0, digits - 1 - power)}f}".replace("-", "−")
