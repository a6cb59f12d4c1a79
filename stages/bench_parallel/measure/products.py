"""The notes' run on each of two devices: alone, one after the other, together."""

from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from lab.machine.devices import Devices
from lab.parallel.workers import Job, Worker, run_concurrently, thread_pool, workers_on
from lab.results.measurements import Measurement
from lab.timing.bench import Variant, in_unit, time_variants
from lab.timing.clock import synchronize
from stages.bench_parallel.measure import names
from stages.bench_parallel.measure.params import Params


def run(x: Tensor) -> list[Tensor]:
    """The notes' work for a device: x (n, n) times itself, again and again, all results kept."""
    return [x.mm(x) for _ in range(50)]


def products_of_a_run() -> int:
    """How many products `run` makes, counted as it runs."""
    products = _Products()
    with products:
        run(torch.ones(2, 2))
    return products.count


class _Products(TorchDispatchMode):
    """Counts the products that are made within it."""

    count: int = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += func is torch.ops.aten.mm.default
        return func(*args, **(kwargs or {}))


def random_matrices(size: int, devices: Devices, seed: int) -> list[Tensor]:
    """A random matrix (size, size) on each device, there before other streams read it."""
    generator = torch.Generator().manual_seed(seed)
    matrices = [torch.rand(size, size, generator=generator).to(d) for d in devices.devices]
    synchronize(devices.devices)
    return matrices


def measure_products(params: Params, devices: Devices, start: int) -> list[Measurement]:
    """Time a run on each device alone, both one after the other, and both together."""
    workers = workers_on(devices.devices)
    measured = []
    with thread_pool(len(workers), devices.threads) as pool:
        for size in params.bench_parallel.sizes:
            jobs = [partial(run, x) for x in random_matrices(size, devices, params.seed)]
            variants: dict[str, Variant] = {
                names.FIRST: partial(workers[0].run, jobs[0]),
                names.SECOND: partial(workers[1].run, jobs[1]),
                names.ONE_AFTER_THE_OTHER: partial(_one_after_the_other, jobs, workers, pool),
                names.TOGETHER: partial(run_concurrently, jobs, workers, pool),
            }
            control = names.TOGETHER if size == params.bench_parallel.largest else ""
            times = time_variants(variants, devices.devices, params.bench, start, control)
            measured += in_unit(names.PRODUCTS, size, times, "ms", devices)
    return measured


def _one_after_the_other(jobs: Sequence[Job], workers: Sequence[Worker], pool: Executor) -> None:
    """`together`, in the same threads or streams, but for a wait between the jobs."""
    run_concurrently(jobs[:1], workers[:1], pool)
    synchronize([workers[0].device])
    if workers[1].stream is None:
        pool.submit(workers[1].run, jobs[1]).result()
    else:
        workers[1].run(jobs[1])
