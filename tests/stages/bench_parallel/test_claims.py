"""The rules of the claims about two jobs on two devices."""

import pytest

from lab.claims.evidence import NotTestableError
from stages.bench_parallel.measure import names
from stages.bench_parallel.page.claims import (
    gain_of_dependent,
    half_way,
    over_no_argument,
    still_at_work,
)
from tests.claim_cases import CONFIRMED, NOT_TESTABLE, REFUTED, check_made_up
from tests.launch_bound import verdicts

ONE, FAST = [50.0] * 8, [30.0] * 8
ONE_GPU, BOTH_GPUS = [25.0] * 8, [50.0] * 8  # waited for


def test_half_of_what_the_first_run_takes_longer_is_the_mark():
    assert half_way([100.0] * 8, [50.0] * 8, [75.0] * 8).value == 1


def test_two_devices_that_gain_nothing_say_nothing_of_dependent_products():
    with pytest.raises(NotTestableError):
        gain_of_dependent(ONE, ONE, ONE)
    with pytest.raises(NotTestableError):
        gain_of_dependent(ONE, ONE, [30.0, 60.0] * 4)
    assert not gain_of_dependent(ONE[:1], ONE[:1], ONE[:1]).decides, "one start says nothing"


def test_waits_that_end_at_the_same_time_say_nothing_of_which_gpus_they_wait_for():
    with pytest.raises(NotTestableError):
        over_no_argument(ONE, ONE, ONE, ONE)


def test_a_stream_that_is_idle_before_the_wait_says_nothing_of_it():
    with pytest.raises(NotTestableError):
        still_at_work([2.0, 1.0], [0.0, 0.0])


def test_matrices_that_launching_takes_as_long_as_computing_decide_nothing():
    """Together is no faster: that is said of two GPUs only if there was work for them."""
    in_turn = {
        **{(names.PRODUCTS, arm): 1.0 for arm in (names.FIRST, names.SECOND)},
        **{(names.PRODUCTS, arm): 2.0 for arm in (names.ONE_AFTER_THE_OTHER, names.TOGETHER)},
    }
    claims = ("C3a", "C3b", "C3f")
    assert verdicts("bench_parallel", in_turn, 50, *claims) == [REFUTED] * 3
    assert verdicts("bench_parallel", in_turn, 1.3, *claims) == [NOT_TESTABLE] * 3
    assert verdicts("bench_parallel", in_turn, 1.3, "C1") == [REFUTED], "what is counted stands"


def test_made_up_results_come_to_the_verdict_and_the_number_that_they_were_made_for():
    check_made_up(
        "bench_parallel",
        {
            "C1": (REFUTED, 50),
            "C2": (CONFIRMED, 2),
            "C2b": (REFUTED, 60 / 75),
            "C2c": (CONFIRMED, 1.01),
            "B4d": (CONFIRMED, 50 / 55),
            "C3a": (CONFIRMED, 2.25 / 1.25),
            "C3b": (CONFIRMED, 2 / 1.25),
            "C3c": (REFUTED, 2),
            "C3d": (CONFIRMED, 0),
            "C3e": (CONFIRMED, 1),
            "C3f": (REFUTED, 1.6),
        },
    )
