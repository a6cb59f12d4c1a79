"""The notes' own sum of gradients: in one process, whose replicas need no messages."""

import torch

from lab.core.shared_params import BenchParams
from lab.machine.devices import Devices
from lab.parallel.allreduce_times import gradient_lengths
from lab.parallel.replicas import allreduce
from lab.results.measurements import Measurement
from lab.timing.bench import in_unit, time_arms
from stages.bench_collectives import names


def measure_in_one_process(
    net: str, n: int, params: BenchParams, devices: Devices
) -> list[Measurement]:
    """Time the sum of n replicas' gradients, and count them.

    Sums of sums soon leave the finite numbers; those are added as fast.
    """
    lengths = gradient_lengths(net)
    num_bytes = 4 * sum(lengths)
    gradients = [
        [torch.rand(length).to(device) for device in devices.devices[:n]] for length in lengths
    ]

    def sum_each() -> None:
        for replicas in gradients:
            allreduce(replicas)

    times = time_arms({names.IN_ONE_PROCESS: sum_each}, devices.devices[:n], params)
    count = Measurement(names.TENSORS, net, num_bytes, (len(lengths),), "tensors", devices.kind)
    return [*in_unit(names.of_ranks(net, n), num_bytes, times, "ms", devices), count]
