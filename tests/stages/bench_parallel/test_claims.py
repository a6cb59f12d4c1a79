import pytest

from lab.claims.evidence import NotTestableError
from lab.claims.rules import Verdict
from stages.bench_parallel.measure import names
from stages.bench_parallel.page.claims import (
    gain_of_dependent,
    half_way,
    over_no_argument,
    still_at_work,
)
from tests.launch_bound import verdicts

SLOW = [50.0] * 8


def test_half_way_mark():
    assert half_way([100.0] * 8, [50.0] * 8, [75.0] * 8).value == 1


def test_without_a_control_that_gains_nothing_is_testable():
    with pytest.raises(NotTestableError):
        gain_of_dependent(SLOW, SLOW, SLOW)
    with pytest.raises(NotTestableError):
        gain_of_dependent(SLOW, SLOW, [30.0, 60.0] * 4)
    assert not gain_of_dependent(SLOW[:1], SLOW[:1], SLOW[:1]).decides, "one start says nothing"


def test_equal_waits_do_not_tell_gpus_apart():
    with pytest.raises(NotTestableError):
        over_no_argument(SLOW, SLOW, SLOW, SLOW)


def test_idle_stream_is_not_testable():
    with pytest.raises(NotTestableError):
        still_at_work([2.0, 1.0], [0.0, 0.0])


def test_launch_bound_products_are_not_testable():
    """Together is no faster: that is said of two GPUs only if there was work for them."""
    in_turn = {
        **{(names.PRODUCTS, arm): 1.0 for arm in (names.FIRST, names.SECOND)},
        **{(names.PRODUCTS, arm): 2.0 for arm in (names.ONE_AFTER_THE_OTHER, names.TOGETHER)},
    }
    claims = ("C3a", "C3b", "C3f")
    assert verdicts("bench_parallel", in_turn, 50, *claims) == [Verdict.REFUTED] * 3
    assert verdicts("bench_parallel", in_turn, 1.3, *claims) == [Verdict.NOT_TESTABLE] * 3
    assert verdicts("bench_parallel", in_turn, 1.3, "C1") == [Verdict.REFUTED], "a count is no time"
