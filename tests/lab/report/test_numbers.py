"""Numbers as the pages write them."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.report.language import catalogue, locale
from lab.report.numbers import digits_beside, duration, duration_span, number, percent, span
from lab.results.findings import Finding


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (12_345, "12,345"),  # counted
        (0.0, "0"),
        (1.7249, "1.7"),
        (0.585, "0.59"),  # like a number above it that was stored with fewer digits
        (277.4, "280"),
        (12_345.6, "12,000"),
        (-0.0456, "−0.046"),
        (4.2e-8, "4.2×10⁻⁸"),
        (1.5e9, "1.5×10⁹"),
        (0.99951, "1.0"),
        (math.inf, "∞"),
        (Finding(0.99853, 0.9977, 0.9995, n=8), "0.999"),  # as many digits as its interval allows
        (Finding(1.7249, 1.22, 1.98, n=8), "1.7"),
    ],
)
def test_a_number_has_two_digits_or_more_if_its_interval_is_narrow(x, text):
    assert number(x) == text


def test_more_digits_are_given_if_asked_for():
    assert (number(277.4, 3), number(12.66, 3), number(5, 2)) == ("277", "12.7", "5.0")


def test_an_interval_has_the_digits_of_its_number():
    assert span(Finding(1.7249, 1.224, 1.98, n=8)) == "1.2–2.0"
    assert span(Finding(0.99853, 0.9977, 0.9995, n=8)) == "0.998–1.00"
    assert span(Finding(1.0, -2.0, 5.0)) == "−2.0 to 5.0"
    assert percent(Finding(0.83, 0.81, 0.85)) == "83%"


@pytest.mark.parametrize(
    ("seconds", "english", "chinese"),
    [
        (12.66, "13 s", "13 秒"),
        (0.0123, "12 ms", "12 毫秒"),
        (3.66e-6, "3.7 µs", "3.7 微秒"),
        (0.99999, "1.0 s", "1.0 秒"),
        (2e-10, "0.20 ns", "0.20 纳秒"),
    ],
)
def test_seconds_are_shown_in_a_suitable_unit(seconds, english, chinese):
    assert duration(seconds) == english
    with locale("zh"):
        assert duration(seconds) == chinese


def test_labels_and_units_of_time_have_the_same_unit_in_chinese():
    units = {"s": "秒", "ms": "毫秒", "µs": "微秒", "ns": "纳秒"}
    told = {english: re.fullmatch(r"(?:.*\()?(s|ms|µs|ns)\)?", english) for english in catalogue()}
    of_times = {english: units[found[1]] for english, found in told.items() if found}
    assert {"Time (ms)", "µs"} <= of_times.keys()
    for english, unit in of_times.items():
        chinese = catalogue()[english]
        assert chinese == unit or chinese.endswith(f"（{unit}）"), english


def test_both_ends_of_a_time_have_the_unit_of_its_median():
    assert duration_span(Finding(0.9e-3, 0.4e-3, 1.2e-3)) == "400–1,200 µs"


@given(st.floats(1e-12, 1e12))
def test_a_number_reads_back_within_half_a_digit(x):
    text = number(x).replace(",", "")
    mantissa, _, power = text.partition("×10")
    digits = "⁰¹²³⁴⁵⁶⁷⁸⁹"
    exponent = int("".join(str(digits.index(c)) if c in digits else "-" for c in power) or 0)
    assert float(mantissa) * 10.0**exponent == pytest.approx(x, rel=0.051)


@pytest.mark.parametrize(
    ("low", "high", "limits", "written"),
    [
        (1.03, 2.4, (1.02,), "1.03–2.40"),  # 1.0 would be below the limit
        (1.01, 2.4, (1.02,), "1.0–2.4"),
        (0.87, 0.96, (1.0,), "0.87–0.96"),
        (0.5, 0.999, (1.0, 1.02), "0.500–0.999"),
        (1.2, 3.0, (-math.inf, math.inf), "1.2–3.0"),
    ],
)
def test_rounding_moves_no_end_across_a_limit(low, high, limits, written):
    found = Finding((low + high) / 2, low, high)
    assert span(found, digits_beside(found, *limits)) == written
