"""What one start of a process measures."""

from lab.core.params import load
from lab.machine.devices import Devices, resolve
from lab.parallel.device_workers import thread_pool
from lab.results.measurements import Measurement, skip
from lab.timing.bench import in_unit, time_arms
from stages.bench_overlap import names
from stages.bench_overlap.arms import arms_of, work_of
from stages.bench_overlap.gradients import measure_gradients
from stages.bench_overlap.non_blocking import measure_return
from stages.bench_overlap.params import Params


def measure(start: int) -> list[Measurement]:
    """All times of start number `start`."""
    params = load(Params)
    return measure_on(params, resolve(1, params.devices), start)


def measure_on(params: Params, devices: Devices, start: int) -> list[Measurement]:
    """Times of all arms, bandwidths, when a call returns, and when gradients are ready."""
    work = work_of(params, devices.devices[0])
    best = names.TWO_STREAMS if work.x.is_cuda else names.BESIDE
    with thread_pool(2, devices.threads) as pool:
        arms = arms_of(work, pool)
        seconds = time_arms(arms, devices.devices, params.bench, start, control=best)
    size, kind = params.bench_overlap.size, devices.kind
    rates = {
        arm: tuple(work.num_bytes / t / 1e9 for t in seconds[arm])
        for arm in names.ALONE
        if arm in seconds and arm != names.COMPUTE
    }
    return [
        *in_unit(names.TIMES, size, seconds, "ms", devices),
        *[Measurement(names.BANDWIDTH, a, size, r, "GB/s", kind) for a, r in rates.items()],
        *[
            skip(names.TIMES, arm, "needs a CUDA GPU", kind)
            for arm in names.ONLY_CUDA
            if arm not in seconds
        ],
        *measure_return(work, devices, params.bench.rounds),
        *measure_gradients(params, devices),
    ]
