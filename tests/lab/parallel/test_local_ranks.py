"""Results that the ranks of one host find together."""

import time

import pytest
import torch
import torch.distributed as dist

from lab.machine.devices import Devices
from lab.parallel.local_ranks import run_on_ranks, slowest_seconds

NAP_S = 0.2


def seconds_of_a_nap(device: torch.device) -> float:
    """Time two calls, which take time only in rank 1."""
    return slowest_seconds(device, lambda: time.sleep(NAP_S * dist.get_rank()), 2)


@pytest.mark.slow
def test_the_first_rank_knows_the_time_of_the_slowest():
    devices = Devices("cpu-virtual", [torch.device("cpu")] * 2, 1)
    assert run_on_ranks(2, devices, seconds_of_a_nap) >= 2 * NAP_S
