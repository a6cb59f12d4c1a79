"""The rules of the claims about asynchronous calls."""

import pytest

from lab.claims.evidence import NotTestableError
from stages.bench_async.measure import names
from stages.bench_async.page import claims
from tests.claim_cases import CONFIRMED, NOT_TESTABLE, REFUTED, check_made_up
from tests.launch_bound import verdicts

STARTS = 8
ONES, TWOS, EITHER = [1.0] * STARTS, [2.0] * STARTS, [0.5, 2.0] * (STARTS // 2)
LENGTHS = [1] * STARTS + [100] * STARTS  # of series: the second decides


def test_without_a_race_nobody_knows_whether_order_was_kept():
    with pytest.raises(NotTestableError, match="no race"):
        claims.order_kept([3, 3], [2, 3])


def test_work_that_launching_takes_as_long_as_doing_decides_nothing():
    """Calls return when all is done, since each was over before the next was launched."""
    at_once = {
        (names.PRODUCT, names.CALL_RETURNS): 980.0,
        (names.PRODUCT, names.RESULT_THERE): 1000.0,
        (names.RUN_AHEAD, names.CALLS_RETURN): 198.0,
        (names.RUN_AHEAD, names.SERIES_DONE): 200.0,
    }
    assert verdicts("bench_async", at_once, 50, "B3", "B3a") == [REFUTED, REFUTED]
    assert verdicts("bench_async", at_once, 1.3, "B3", "B3a") == [NOT_TESTABLE] * 2
    assert verdicts("bench_async", at_once, 1.3, "B4") == [CONFIRMED], "what does not vary stands"


def test_waiting_shows_nothing_where_the_notes_products_are_done_when_launched():
    """Ten take 120 us, twelve each; one of the smallest, little but its launch, takes 10 us."""
    no_wait = {(names.BOOK, names.WAITED_FOR): 0.2, (names.BOOK, names.NOT_WAITED_FOR): 0.2}
    short = {(names.BOOK, names.FAIR_TORCH): 0.12}
    assert verdicts("bench_async", no_wait, 50, "B2") == [REFUTED]
    assert verdicts("bench_async", no_wait | short, 50, "B2") == [NOT_TESTABLE]


def test_made_up_results_come_to_the_verdict_and_the_number_that_they_were_made_for():
    check_made_up(
        "bench_async",
        {
            "B1": (CONFIRMED, 40 / 0.2),
            "B1a": (REFUTED, 40 / 0.2),
            "B1b": (CONFIRMED, 40 / 20),
            "B1c": (CONFIRMED, (40 / 0.2) / (15 / 10)),
            "B1d": (CONFIRMED, 2),
            "B2": (CONFIRMED, 20 / 0.2),
            "B2a": (REFUTED, 20 / 0.2),
            "B3": (CONFIRMED, 0.01),
            "B3a": (CONFIRMED, 0.01),
            "B3b": (CONFIRMED, 60),
            "B3c": (CONFIRMED, 2),
            "B4": (CONFIRMED, 0),
        },
    )
