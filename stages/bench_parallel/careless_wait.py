"""The notes' wait for two GPUs, `torch.cuda.synchronize()`, which waits for the current one."""

import torch

from lab.machine.devices import Devices
from lab.parallel.device_workers import thread_pool, together, workers_on
from lab.results.measurements import Measurement, skip
from lab.timing.bench import in_unit, turns
from lab.timing.clock import read_clock, synchronize
from stages.bench_parallel import names
from stages.bench_parallel.params import Params
from stages.bench_parallel.products import products


def measure_careless_wait(params: Params, devices: Devices) -> list[Measurement]:
    """Time both jobs, the second twice as long, until the current GPU or both have finished."""
    gpus = {device for device in devices.devices if device.type == "cuda"}
    if len(gpus) < 2:
        reason = f"needs 2 CUDA GPUs, found {len(gpus)}"
        return [skip(names.LONGER_SECOND, names.CURRENT_WAITED_FOR, reason, devices.kind)]
    workers, size = workers_on(devices.devices), max(params.bench_parallel.sizes)
    generator = torch.Generator().manual_seed(params.seed)
    count = params.bench_parallel.num_products
    counts = (max(1, count // 2), count)
    jobs = [products(worker, size, n, generator) for worker, n in zip(workers, counts, strict=True)]
    arms = {names.CURRENT_WAITED_FOR: devices.devices[:1], names.BOTH_WAITED_FOR: devices.devices}
    times: dict[str, tuple[float, ...]] = dict.fromkeys(arms, ())
    with thread_pool(len(workers), devices.threads) as pool:
        synchronize(devices.devices)  # the matrices are there before other streams read them
        together(jobs, workers, pool)  # warm-up
        for name in turns(arms, params.bench.rounds):
            start = read_clock(devices.devices)
            together(jobs, workers, pool)
            times[name] += (read_clock(arms[name]) - start,)
    return in_unit(names.LONGER_SECOND, size, times, "ms", devices)
