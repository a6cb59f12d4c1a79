"""Times of all-reduces and steps among three real ranks, in one launch for all tests."""

import multiprocessing
from dataclasses import replace

import pytest
import torch
import torch.distributed as dist

from lab.core.errors import LabError
from lab.core.shared_params import BenchParams
from lab.machine.devices import Devices
from lab.parallel.allreduce import times
from lab.parallel.allreduce.times import (
    NOTHING,
    Timed,
    Variant,
    gradient_lengths,
    is_step,
    time_among_ranks,
)
from lab.parallel.cost_model import LIBRARY, RING, STAR, THERE_AND_BACK

THREE = Devices("cpu-virtual", [torch.device("cpu")] * 3, 1)
ONE_START = BenchParams(starts=1, rounds=3, min_sample_ms=0.1)
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


@pytest.fixture(scope="module")
def timed():
    """What the ranks found of each variant."""
    variants = [*SUMS, *STEPS, AFTER]
    found = time_among_ranks(variants, ONE_START, THREE)
    assert not multiprocessing.active_children(), "no rank outlives its arms"
    assert len(found) == len(variants)
    return found


def test_variants_of_several_world_sizes_are_timed_and_checked_in_their_order(timed):
    found = timed[: len(SUMS)]
    assert [(one.messages_sent, one.bytes_sent) for one in found] == [
        (4, 3200),
        (2, 600),
        (1, 600),
        (1, 20),
        (0, 0),
    ]
    for one in timed:
        assert one.exact
        assert len(one.seconds) == 1, "one start, one value"
        assert all(0 < seconds < 60 for seconds in one.seconds)


def test_a_step_leaves_the_weights_of_one_process_in_all_ranks_and_computing_sends_nothing(timed):
    """`exact` holds each rank's weights against one process's replicas."""
    steps = timed[len(SUMS) : len(SUMS) + len(STEPS)]
    assert [one.messages_sent for one in steps] == [0, 0, 8, 2]
    assert [one.bytes_sent for one in steps] == [0, 0, 4 * sum(LENET), 4 * sum(LENET)]


def test_weights_without_another_ranks_gradients_are_not_those_of_a_step():
    before, mine, theirs = torch.rand(3, 100, generator=torch.Generator().manual_seed(0))
    after = before - 1e-4 * (mine + theirs)
    assert is_step(after.double().float(), before, after)
    assert is_step(before - 1e-4 * mine - 1e-4 * theirs, before, after), "in another order"
    assert not is_step(before - 1e-4 * mine, before, after)
    assert not is_step(before - 1e-4 * (mine + theirs) / 2, before, after)
    assert not is_step(before, before, after)


def test_a_step_can_sum_other_tensors_than_its_gradients(timed):
    after = timed[len(SUMS) + len(STEPS)]
    assert (after.messages_sent, after.bytes_sent) == (1, 28)


def test_a_start_gives_the_median_of_its_rounds_and_one_wrong_sum_is_a_wrong_variant(monkeypatch):
    starts = []

    def ask(world_size, devices, work, variants, params, late):
        starts.append((late, world_size))
        halves = ((1.0 + late, 9.0),)
        return [
            Timed((1.0, 5.0 + late, 9.0), halves, True, 2, 8),
            Timed((2.0,) * 3, halves, late != 1, 0, 0),
        ]

    monkeypatch.setattr(times, "run_on_ranks", ask)
    params = BenchParams(starts=3, rounds=4, min_sample_ms=1)
    found = time_among_ranks(SUMS[1:3], params, THREE)
    halves = ((1.0, 9.0), (2.0, 9.0), (3.0, 9.0))
    assert found == [
        Timed((5.0, 6.0, 7.0), halves, True, 2, 8),
        Timed((2.0,) * 3, halves, False, 0, 0),
    ]
    assert starts == [(0, 2), (1, 2), (2, 2)]


def test_variants_in_a_row_are_called_so_often_once_after_all_turns(monkeypatch):
    samples = []

    def sample(_, variant, calls):
        samples.append((variant, calls))
        return 1.0

    monkeypatch.setattr(times._Rank, "sample", sample)
    turn = Variant(NOTHING, 1, LENET, net="lenet", images=1)
    in_a_row = replace(turn, in_a_row=1234)
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        found = times._take_part(torch.device("cpu"), [in_a_row, turn], ONE_START, 0)
    finally:
        dist.destroy_process_group()
    assert [variant for variant, _ in samples] == [turn] * ONE_START.rounds + [in_a_row]
    assert samples[-1] == (in_a_row, 1234)
    assert [len(one.seconds) for one in found if one] == [1, ONE_START.rounds]


def test_more_ranks_than_devices_are_refused():
    with pytest.raises(ValueError, match="at most 3 ranks"):
        time_among_ranks([Variant(RING, 4, (1,))], ONE_START, THREE)


def test_a_rank_that_fails_ends_the_measurement_of_all():
    """At once, while others wait for it, instead of after the timeout of 600 s."""
    variants = [Variant("no such algorithm", 1, (7,)), Variant(STAR, 3, (7,))]
    with pytest.raises(LabError, match=r"^rank \d ended with code 1; its own words are above$"):
        time_among_ranks(variants, ONE_START, THREE)


def test_halves_are_every_other_round():
    assert times._halves([1.0, 10.0, 3.0, 30.0]) == (2.0, 20.0)
    assert times._halves([5.0]) == (5.0, 5.0)
