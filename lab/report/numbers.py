"""Numbers as the pages write them: with as many digits as were measured, and the interval.

These are the filters of the Markdown files. They take a number, or a finding with an interval.
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
    """Return a number as a finding; without an interval, both ends are the number."""
    return x if isinstance(x, Finding) else Finding(float(x), float(x), float(x))


def number(x: Finding | float, digits: int = 0) -> str:
    """Write a number: 1.7, 12,300, 4.2×10⁻⁸.

    Args:
        x: the number; an `int` is a count and written whole.
        digits: significant digits; 0 for two, or more if the interval is narrow.
    """
    if isinstance(x, int) and not digits:
        return f"{x:,}".replace("-", "−")
    return _rounded(interval(x).value, digits or _digits(interval(x)))


def span(x: Finding | float, digits: int = 0, unit: str = "") -> str:
    """Write a number's interval: 1.2–2.0; or, with few samples, their range: 1.2–2.0 in 3 samples.

    Args:
        x: the number.
        digits: significant digits; 0 for two, or more if the interval is narrow.
        unit: text after the ends.
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
    """Write an interval with its chance to hold the true median: 99% interval 1.2–2.0."""
    ends = span(x, digits, unit)
    return ends if 0 < interval(x).n < FEWEST else say("99% interval {ends}", ends=ends)


def percent(x: Finding | float, digits: int = 0) -> str:
    """Write a share as percent: 83%."""
    return number(_by(x, 100), digits) + "%"


def percent_span(x: Finding | float, digits: int = 0) -> str:
    """Write the interval of a share as percent: 81–85%."""
    return span(_by(x, 100), digits, "%")


def duration(seconds: Finding | float, digits: int = 0) -> str:
    """Write seconds in a suitable unit: 12.7 s, 37 µs."""
    found, unit = _in_unit(interval(seconds))
    return f"{number(found, digits)} {unit}"


def duration_span(seconds: Finding | float, digits: int = 0) -> str:
    """Write the interval of seconds in the unit of their median: 35–41 µs."""
    found, unit = _in_unit(interval(seconds))
    return span(found, digits, f" {unit}")


def which(ratio: Finding, faster: str, undecided: str, slower: str) -> str:
    """Return the words that fit a ratio's verdict on its new side."""
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
    """Convert seconds to the unit that suits their median; return them with the unit's name."""
    size, unit, chinese = next(
        (each for each in UNITS if abs(seconds.value) >= 0.9995 * each[0]), UNITS[-1]
    )
    return _by(seconds, 1 / size), chinese if language() == CHINESE else unit


def _by(x: Finding | float, factor: float) -> Finding:
    return interval(x) * factor


def _digits(found: Finding) -> int:
    """Return two digits, or as many as distinguish the ends of a narrow interval."""
    width = found.high - found.low
    if not width or not found.value or not math.isfinite(width):
        return 2
    return min(MOST_DIGITS, max(2, math.ceil(-math.log10(width / abs(found.value)))))


def digits_beside(x: Finding | float, *limits: float) -> int:
    """Return enough digits that rounding moves no end of the interval across a limit."""
    found = interval(x)
    fewest = _digits(found)
    for digits in range(fewest, MOST_DIGITS):
        ends = ((end, _significant(end, digits)) for end in (found.low, found.high))
        if all(_side(end, limit) == _side(near, limit) for end, near in ends for limit in limits):
            return digits
    return max(fewest, MOST_DIGITS)


def _side(x: float, limit: float) -> int:
    """Return 1 if a number is above a limit, -1 if below, 0 if equal."""
    return (x > limit) - (x < limit)


def _significant(x: float, digits: int) -> float:
    """Round to significant digits: 0.585 to 0.59, although its float is below 0.585."""
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
