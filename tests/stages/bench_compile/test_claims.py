"""The rules of the claims about compiling."""

import pytest

from lab.claims.rules import Over
from stages.bench_compile.page import claims
from tests.claim_cases import CONFIRMED, INCONCLUSIVE, REFUTED, check_made_up

STARTS = 8
ONES, TWOS, EITHER = [1.0] * STARTS, [2.0] * STARTS, [0.5, 2.0] * (STARTS // 2)


def test_made_up_results_come_to_the_verdict_and_the_number_that_they_were_made_for():
    check_made_up(
        "bench_compile",
        {
            "A1": (CONFIRMED, 10),
            "A3": (CONFIRMED, 20 / 10),
            "A3a": (REFUTED, 5),
            "A3b": (CONFIRMED, 20 / 10),
            "A3c": (CONFIRMED, 60),
            "A3d": (CONFIRMED, 32 / 40),
            "A3e": (CONFIRMED, 32 / 16),
            "A4b": (CONFIRMED, 6),
            "A6a": (CONFIRMED, 40 / 32),
            "A6b": (CONFIRMED, 40 / 35),
            "A6c": (CONFIRMED, 36 / 28),
            "A6e": (REFUTED, 40 / 80),
            "A6f": (REFUTED, 35 / 40),
            "A7b": (INCONCLUSIVE, 1.2),
        },
    )


def test_one_timing_is_compared_with_the_other_starts():
    assert claims.error_of_one([1.0, 1.0, 1.0, 1.3]).value == 0
    found = claims.error_of_one([1.0, 2.0])
    assert found.value == pytest.approx((50 + 100) / 2)
    assert not claims.error_of_one([1.0]).decides


def test_a_case_is_the_median_of_its_starts_and_the_cases_are_the_samples():
    found = claims.over_cases([2, 2, 8, 3, 3, 3], [1] * 6, [0, 1, 2, 0, 1, 2])
    assert (found.value, found.count, found.over) == (2.5, 2, Over.CASES)
