"""When a copy with the argument `non_blocking` returns, and when it is there."""

from lab.machine.devices import Devices
from lab.results.measurements import Measurement, skip
from lab.timing.bench import in_unit
from lab.timing.clock import read_clock
from stages.bench_overlap.measure import names
from stages.bench_overlap.measure.variants import Work


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
