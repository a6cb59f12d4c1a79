"""The overlap fraction against its bounds, and what is marked wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.results.measurements import Measurement
from stages.bench_overlap.measure import names
from stages.bench_overlap.measure.fractions import WRONG, overlap_fraction, overlap_fractions
from tests.made_up import measurements

SECONDS = st.floats(0.01, 100)


def timed(**times: tuple[float, ...]) -> list[Measurement]:
    return [Measurement(names.TIMES, arm, 0, t, "ms", "cuda") for arm, t in times.items()]


@given(SECONDS, SECONDS, st.floats(0, 1))
def test_a_time_between_the_bounds_has_a_fraction_between_0_and_1(t1, t2, share):
    total = max(t1, t2) + (1 - share) * min(t1, t2)
    assert overlap_fraction([t1, t2], total) == pytest.approx(share, abs=1e-6)


def test_the_books_printed_times_are_no_overlap():
    assert overlap_fraction([0.5010, 2.3848], 2.1558) == pytest.approx(1.46, abs=0.005)
    assert overlap_fraction([0.1232, 2.1620], 3.1346) < 0  # the newer edition's
    times = {
        names.COMPUTE: 0.5010,
        names.PAGEABLE_COPIES: 2.3848,
        names.BOOK_COPIES: 2.0,
        names.BOOK: 2.1558,
    }
    [own, printed] = overlap_fractions(timed(**{arm: (t,) * 12 for arm, t in times.items()}))
    assert (own.arm, own.remark) == (names.BOOK, "")
    assert (printed.arm, printed.remark) == (names.AS_THE_BOOK, WRONG)
    assert printed.values[0] == pytest.approx(1.457, abs=1e-3)


def test_three_parts_overlap_fully_when_the_longest_is_all_one_sees():
    assert overlap_fraction([1, 2, 3], 3) == 1
    assert overlap_fraction([1, 2, 3], 6) == 0


def test_each_arm_is_held_against_its_own_parts():
    found = {m.arm: m for m in overlap_fractions(measurements("bench_overlap", "cuda"))}
    expected = {
        names.PAGEABLE: 0,
        names.BOOK: 0,
        names.ONE_STREAM: 0,
        names.TWO_STREAMS: 36 / 40,
        names.BOTH_DIRECTIONS: 70 / 80,
        names.AS_THE_BOOK: (40 + 200 - 100) / 40,
    }
    assert set(found) == set(expected)
    for arm, fraction in expected.items():
        assert found[arm].summary.median == pytest.approx(fraction, abs=1e-2), arm
        assert (found[arm].remark == WRONG) == (arm == names.AS_THE_BOOK), arm


def test_a_fraction_that_noise_takes_over_a_bound_is_not_called_wrong():
    times = {
        names.COMPUTE: (40.0,) * 12,
        names.COPIES: (40.0,) * 12,
        names.IN_TURN: (79.0, 81.0) * 6,
    }
    [fraction] = overlap_fractions(timed(**times))
    assert fraction.remark == ""
    assert min(fraction.values) < 0 < max(fraction.values)


def test_what_one_start_shows_is_not_called_wrong():
    one = {names.COMPUTE: (40.0,), names.COPIES: (40.0,), names.IN_TURN: (90.0,)}
    eight = {arm: t * 8 for arm, t in one.items()}
    assert [f.remark for f in overlap_fractions(timed(**one))] == [""]
    assert [f.remark for f in overlap_fractions(timed(**eight))] == [WRONG]
