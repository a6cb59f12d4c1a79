import pytest

from lab.claims.evidence import NotTestableError
from lab.claims.rules import Verdict
from stages.bench_async.measure import names
from stages.bench_async.page import claims
from tests.launch_bound import verdicts


def test_order_without_a_race_is_not_testable():
    with pytest.raises(NotTestableError):
        claims.order_kept([3, 3], [2, 3])


def test_launch_bound_calls_are_not_testable():
    """Calls return when all is done, since each was over before the next was launched."""
    at_once = {
        (names.PRODUCT, names.CALL_RETURNS): 980.0,
        (names.PRODUCT, names.RESULT_THERE): 1000.0,
        (names.RUN_AHEAD, names.CALLS_RETURN): 198.0,
        (names.RUN_AHEAD, names.SERIES_DONE): 200.0,
    }
    assert verdicts("bench_async", at_once, 50, "B3", "B3a") == [Verdict.REFUTED] * 2
    assert verdicts("bench_async", at_once, 1.3, "B3", "B3a") == [Verdict.NOT_TESTABLE] * 2
    assert verdicts("bench_async", at_once, 1.3, "B4") == [Verdict.CONFIRMED], "order is no time"


def test_launch_bound_products_need_no_wait():
    """Ten take 120 us, twelve each; one of the smallest, little but its launch, takes 10 us."""
    no_wait = {(names.BOOK, names.WAITED_FOR): 0.2, (names.BOOK, names.NOT_WAITED_FOR): 0.2}
    short = {(names.BOOK, names.FAIR_TORCH): 0.12}
    assert verdicts("bench_async", no_wait, 50, "B2") == [Verdict.REFUTED]
    assert verdicts("bench_async", no_wait | short, 50, "B2") == [Verdict.NOT_TESTABLE]
