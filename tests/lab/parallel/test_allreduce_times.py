"""Times of all-reduces and steps among three real ranks, in one launch for all tests."""

import logging
import os

import psutil
import pytest
import torch

from lab.machine.devices import Devices
from lab.parallel.allreduce_times import (
    NOTHING,
    Arm,
    controls,
    gradient_lengths,
    noise_control,
    time_among_ranks,
)
from lab.parallel.cost_model import LIBRARY, RING, STAR, THERE_AND_BACK
from tests.helpers import ROOT

THREE = Devices("cpu-virtual", [torch.device("cpu")] * 3, 1)
SUMS = [
    Arm(RING, 3, (600,)),
    Arm(STAR, 2, (100, 0, 50)),
    Arm(STAR, 2, (100, 0, 50), one_bucket=True),
    Arm(THERE_AND_BACK, 2, (5,)),
    Arm(LIBRARY, 3, (1, 2)),
]
LENET = gradient_lengths("lenet")
STEPS = [
    Arm(STAR, 2, LENET, False, "lenet", images=3),
    Arm(RING, 2, LENET, True, "lenet", images=3),
    Arm(NOTHING, 2, LENET, False, "lenet", images=3),
]
AFTER = Arm(STAR, 2, (7,), net="lenet", images=3, gradients=False)


@pytest.fixture(scope="module")
def timed():
    """What the ranks found of each arm, and how the launch left this process."""
    arms = [*SUMS, *STEPS, AFTER, *controls(2, 2)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        before = dict(os.environ)
        found = time_among_ranks(arms, rounds=3, min_sample_ms=0.1, devices=THREE)
        assert dict(os.environ) == before, "launching leaves no variables behind"
    assert logging.getLogger().isEnabledFor(logging.ERROR)
    assert not psutil.Process().children(recursive=True), "no rank outlives its arms"
    assert len(found) == len(arms)
    return found


def test_arms_of_several_world_sizes_are_timed_and_checked_in_their_order(timed):
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
        assert len(one.seconds) == 3
        assert all(0 < seconds < 60 for seconds in one.seconds)


def test_a_step_leaves_the_same_weights_in_all_ranks_and_computing_alone_sends_nothing(timed):
    steps = timed[len(SUMS) : len(SUMS) + len(STEPS)]
    assert [one.messages_sent for one in steps] == [8, 2, 0]
    assert [one.bytes_sent for one in steps] == [4 * sum(LENET)] * 2 + [0]


def test_a_step_can_sum_other_tensors_than_its_gradients(timed):
    after = timed[len(SUMS) + len(STEPS)]
    assert (after.messages_sent, after.bytes_sent) == (1, 28)


def test_an_arm_against_itself_has_a_ratio_for_each_round(timed):
    rows = noise_control(timed[-4:], THREE)
    first, again = timed[-4], timed[-3]
    assert [len(row.values) for row in rows] == [3, 3]
    assert rows[0].values[1] == first.seconds[1] / again.seconds[1]


def test_more_ranks_than_devices_are_refused():
    with pytest.raises(ValueError, match="at most 3 ranks"):
        time_among_ranks([Arm(RING, 4, (1,))], rounds=1, min_sample_ms=1, devices=THREE)
