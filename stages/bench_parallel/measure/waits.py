"""Which GPU `torch.cuda.synchronize` waits for."""

import torch

from lab.machine.devices import Devices
from lab.parallel.workers import run_concurrently, thread_pool, workers_on
from lab.results.measurements import Measurement, skip
from lab.timing.bench import balanced_turns, in_unit
from lab.timing.clock import read_clock, synchronize
from stages.bench_parallel.measure import names
from stages.bench_parallel.measure.params import Params
from stages.bench_parallel.measure.products import random_matrices, run


def measure_waits(params: Params, devices: Devices, start: int) -> list[Measurement]:
    """Time two jobs, the second twice as long, until each kind of wait is over."""
    gpus = {device for device in devices.devices if device.type == "cuda"}
    waits = {
        names.NO_ARGUMENT: torch.cuda.synchronize,  # as the notes wait
        names.CURRENT_WAITED_FOR: lambda: torch.cuda.synchronize(torch.cuda.current_device()),
        names.BOTH_WAITED_FOR: lambda: synchronize(devices.devices),
    }
    if len(gpus) < 2:
        reason = f"needs 2 CUDA GPUs, found {len(gpus)}"
        return [skip(names.LONGER_SECOND, wait, reason, devices.kind) for wait in waits]
    workers, size = workers_on(devices.devices), params.bench_parallel.largest
    first, second = random_matrices(size, devices, params.seed)
    jobs = [lambda: run(first), lambda: [run(second), run(second)]]
    times: dict[str, tuple[float, ...]] = dict.fromkeys(waits, ())
    with thread_pool(len(workers), devices.threads) as pool:
        run_concurrently(jobs, workers, pool)  # warm-up
        for name in balanced_turns(list(waits), params.bench.rounds, start * params.bench.rounds):
            began = read_clock(devices.devices)
            run_concurrently(jobs, workers, pool)
            waits[name]()
            times[name] += (read_clock([]) - began,)
    return in_unit(names.LONGER_SECOND, size, times, "ms", devices)
