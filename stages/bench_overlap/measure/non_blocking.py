"""What the argument `non_blocking` does: which calls take it, and when such a call returns."""

from collections.abc import Callable

import torch

from lab.machine.devices import Devices
from lab.results.measurements import Measurement, skip
from lab.timing.bench import in_unit
from lab.timing.clock import read_clock
from stages.bench_overlap.measure import names
from stages.bench_overlap.measure.arms import Work


def calls_with_it() -> int:
    """How many of `to` and `copy_` take the argument."""
    x = torch.ones(2)
    calls: tuple[Callable[[], object], ...] = (
        lambda: x.to("cpu", non_blocking=True),
        lambda: torch.empty(2).copy_(x, non_blocking=True),
    )
    return sum(map(_runs, calls))


def _runs(call: Callable[[], object]) -> bool:
    try:
        call()
    except TypeError:
        return False
    return True


def measure_return(work: Work, devices: Devices, rounds: int) -> list[Measurement]:
    """Time until the notes' call to copy all results returns, and until the copies are there."""
    if not work.x.is_cuda:
        reason = "needs a CUDA GPU"
        return [skip(names.CALL, a, reason, devices.kind) for a in (names.RETURNS, names.ARRIVES)]
    returns, arrives = [], []
    for _ in range(1 + rounds):
        start = read_clock(devices.devices)
        hosts = work.fresh_copies(non_blocking=True)
        returns.append(read_clock([]) - start)
        arrives.append(read_clock(devices.devices) - start)
        del hosts
    times = {names.RETURNS: tuple(returns[1:]), names.ARRIVES: tuple(arrives[1:])}  # warm
    return in_unit(names.CALL, len(work.x), times, "ms", devices)
