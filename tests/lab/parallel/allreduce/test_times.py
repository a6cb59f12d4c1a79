"""All-reduces and steps among three real ranks, in one launch for all tests."""

import multiprocessing
from functools import partial

import pytest
import torch
import torch.distributed as dist

from lab.core.errors import LabError
from lab.core.shared_params import BenchParams
from lab.machine.devices import Devices
from lab.parallel.allreduce.times import NOTHING, LocalRank, TimedCall, Variant, gradient_lengths
from lab.parallel.cost_model import LIBRARY, RING, STAR, THERE_AND_BACK
from lab.parallel.local_ranks import run_on_ranks, time_in_turns

THREE = Devices("cpu-virtual", [torch.device("cpu")] * 3, 1)
BENCH = BenchParams(starts=1, rounds=3, min_sample_ms=0.1)
SUMS = [
    Variant(RING, 3, (600,)),
    Variant(STAR, 2, (100, 0, 50)),
    Variant(STAR, 2, (100, 0, 50), one_bucket=True),
    Variant(THERE_AND_BACK, 2, (5,)),
    Variant(LIBRARY, 3, (1, 2)),
]
LENET = gradient_lengths("lenet")
STEPS = [
    Variant(NOTHING, 2, LENET, False, "lenet", images=3),
    Variant(NOTHING, 1, LENET, False, "lenet", images=6),
    Variant(STAR, 2, LENET, False, "lenet", images=3),
    Variant(RING, 2, LENET, True, "lenet", images=3),
]
AFTER = Variant(STAR, 2, (7,), net="lenet", images=3, gradients=False)
VARIANTS = [*SUMS, *STEPS, AFTER]


def measure(device, variants):
    """What a rank finds: the first calls, then times."""
    here = LocalRank(device, [variant.world_size for variant in variants])
    timed = [here.timed(variant, in_one_process=True) for variant in variants]
    times = time_in_turns(dict(enumerate(timed)), BENCH, 0, device)
    return [call.first for call in timed], times


@pytest.fixture(scope="module")
def measured():
    found = run_on_ranks(3, THREE, measure, VARIANTS)
    assert not multiprocessing.active_children(), "no rank outlives its work"
    return found


def test_variants_of_several_world_sizes_are_checked_and_timed(measured):
    first, times = measured
    assert [(one.messages_sent, one.bytes_sent) for one in first[: len(SUMS)]] == [
        (4, 3200),
        (2, 600),
        (1, 600),
        (1, 20),
        (0, 0),
    ]
    assert all(one.exact for one in first)
    assert list(times) == list(range(len(VARIANTS)))
    for seconds in times.values():
        assert len(seconds) == BENCH.rounds
        assert all(0 < each < 60 for each in seconds)


def test_a_step_leaves_the_weights_of_one_process_in_all_ranks_and_computing_sends_nothing(
    measured,
):
    """`exact` holds each rank's weights against one process's replicas."""
    steps = measured[0][len(SUMS) : len(SUMS) + len(STEPS)]
    assert [one.messages_sent for one in steps] == [0, 0, 8, 2]
    assert [one.bytes_sent for one in steps] == [0, 0, 4 * sum(LENET), 4 * sum(LENET)]


def wrong_in_the_last(device):
    """A call that is right in all ranks, and one that is wrong in the last."""
    calls = [
        TimedCall(lambda: None, partial(bool, right), None) for right in (True, dist.get_rank() < 2)
    ]
    for call in calls:
        call()
    return [call.first.exact for call in calls]


def test_what_is_wrong_in_one_rank_is_not_exact():
    assert run_on_ranks(3, THREE, wrong_in_the_last) == [True, False]


def test_a_rank_that_fails_ends_the_measurement_of_all():
    """At once, while others wait for it, instead of after the timeout of 600 s."""
    variants = [Variant("no such algorithm", 1, (7,)), Variant(STAR, 3, (7,))]
    with pytest.raises(LabError, match=r"^rank \d ended with code 1; its own error is above$"):
        run_on_ranks(3, THREE, measure, variants)
