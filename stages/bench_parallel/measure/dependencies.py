"""Dependent and independent products on two devices.

Each product of a chain needs the previous one. One chain that alternates between two devices has
the same products as one that stays on one device; two chains of half the length, one on each
device, are independent. A GPU's products and copies are queued, as in the notes; a virtual device
is a thread with a queue, in which a product waits for the one that it needs.
"""

from collections.abc import Sequence
from concurrent.futures import Executor, Future
from contextlib import ExitStack
from functools import partial

import torch
from torch import Tensor

from lab.machine.devices import Devices
from lab.parallel.workers import thread_pool
from lab.results.measurements import Measurement
from lab.timing.bench import Variant, in_unit, time_variants
from stages.bench_parallel.measure.params import Params

STEPS = 25  # products of each of two chains; one chain has both
# the device of each product of each chain
CHAINS = {
    "one chain, one device": [[0] * (2 * STEPS)],
    "one chain, two devices": [[0, 1] * STEPS],
    "two chains, two devices": [[0] * STEPS, [1] * STEPS],
}

Result = Tensor | Future[Tensor]


def grow(
    matrices: Sequence[Tensor], queues: Sequence[Executor], chains: Sequence[Sequence[int]]
) -> list[Tensor]:
    """Return the last product of each chain, given as its devices; the chains alternate."""
    ends: list[Result] = [matrices[chain[0]] for chain in chains]
    for devices in zip(*chains, strict=True):
        for i, device in enumerate(devices):
            ends[i] = _enqueue(ends[i], matrices[device], queues[device])
    return [_result(end) for end in ends]


def _enqueue(before: Result, factor: Tensor, queue: Executor) -> Result:
    if factor.is_cuda:
        return _result(before).to(factor.device, non_blocking=True) @ factor
    return queue.submit(lambda: _result(before) @ factor)


def _result(end: Result) -> Tensor:
    return end.result() if isinstance(end, Future) else end


def measure_dependencies(params: Params, devices: Devices, process: int) -> list[Measurement]:
    size = params.bench_parallel.largest
    matrices = factors(size, devices, params.seed)
    with ExitStack() as stack:
        queues = [stack.enter_context(thread_pool(1, devices.threads)) for _ in devices.devices]
        variants: dict[str, Variant] = {
            name: partial(grow, matrices, queues, chains) for name, chains in CHAINS.items()
        }
        times = time_variants(variants, devices.devices, params.bench, process)
    return in_unit("dependencies", size, times, "ms", devices)


def factors(size: int, devices: Devices, seed: int) -> list[Tensor]:
    """Return a random matrix (size, size) on each device; its powers grow or vanish slowly."""
    generator = torch.Generator().manual_seed(seed)
    matrix = torch.randn(size, size, generator=generator) / size**0.5
    return [matrix.to(device) for device in devices.devices]
