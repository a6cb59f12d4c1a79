"""Products on each of two devices: alone, one after the other, together."""

from collections.abc import Sequence
from functools import partial

import torch

from lab.machine.devices import Devices
from lab.parallel.device_workers import Job, Worker, thread_pool, together, workers_on
from lab.results.measurements import Measurement
from lab.timing.bench import Arm, in_unit, time_arms
from lab.timing.clock import synchronize
from stages.bench_parallel import names
from stages.bench_parallel.params import Params


def products(worker: Worker, size: int, count: int, generator: torch.Generator) -> Job:
    """A job: multiply a random (size, size) matrix with itself `count` times, into one result."""
    x = torch.rand(size, size, generator=generator).to(worker.device)
    y = torch.empty_like(x)

    def job() -> None:
        for _ in range(count):
            torch.mm(x, x, out=y)

    return job


def measure_products(params: Params, devices: Devices) -> list[Measurement]:
    """Time a job on each device alone, both one after the other, and both together."""
    workers = workers_on(devices.devices)
    generator = torch.Generator().manual_seed(params.seed)
    count = params.bench_parallel.num_products
    measured = []
    with thread_pool(len(workers), devices.threads) as pool:
        for size in params.bench_parallel.sizes:
            jobs = [products(worker, size, count, generator) for worker in workers]
            synchronize(devices.devices)  # the matrices are there before other streams read them
            arms: dict[str, Arm] = {
                names.FIRST: partial(workers[0].run, jobs[0]),
                names.SECOND: partial(workers[1].run, jobs[1]),
                names.ONE_AFTER_THE_OTHER: partial(_one_after_the_other, jobs, workers),
                names.TOGETHER: partial(together, jobs, workers, pool),
            }
            times = time_arms(arms, devices.devices, params.bench)
            measured += in_unit(names.PRODUCTS, size, times, "ms", devices)
    return measured


def _one_after_the_other(jobs: Sequence[Job], workers: Sequence[Worker]) -> None:
    for worker, job in zip(workers, jobs, strict=True):
        worker.run(job)
        synchronize([worker.device])
