import pytest

from lab.claims.rules import Over
from stages.bench_compile.page import claims


def test_one_timing_against_the_other_starts():
    assert claims.error_of_one([1.0, 1.0, 1.0, 1.3]).value == 0
    found = claims.error_of_one([1.0, 2.0])
    assert found.value == pytest.approx((50 + 100) / 2)
    assert not claims.error_of_one([1.0]).decides


def test_cases_are_medians_over_their_starts():
    found = claims.over_cases([2, 2, 8, 3, 3, 3], [1] * 6, [0, 1, 2, 0, 1, 2])
    assert (found.value, found.count, found.over) == (2.5, 2, Over.CASES)
