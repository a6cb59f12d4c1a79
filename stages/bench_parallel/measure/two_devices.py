"""The notes' run on two devices: on one only, sequentially, concurrently, and for the first time.

The host only queues a GPU's job into a stream. A single GPU has two streams instead of two GPUs, a
CPU two threads.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from lab.machine.devices import Devices
from lab.parallel.workers import thread_pool
from lab.results.measurements import Measurement, skip
from lab.results.reasons import NEEDS_GPUS, Reason
from lab.timing.bench import Variant, balanced_turns, in_unit, time_variants
from lab.timing.clock import read_clock, synchronize
from stages.bench_parallel.measure.params import Params

Job = Callable[[], object]


def run(x: Tensor) -> list[Tensor]:
    """Do the notes' work of a device: multiply x (n, n) by itself 50 times, keep all results."""
    return [x.mm(x) for _ in range(50)]


def together(jobs: Sequence[Job], devices: Sequence[torch.device], pool: Executor) -> None:
    """Start the second job before the first is done: GPUs queue jobs, a CPU uses a thread."""
    if devices[0].type == "cuda":
        for job in jobs:
            job()
    else:
        second = pool.submit(jobs[1])
        jobs[0]()
        second.result()


def one_after_the_other(
    jobs: Sequence[Job], devices: Sequence[torch.device], pool: Executor
) -> None:
    """Run the same jobs in the same streams or threads, but wait between them."""
    if devices[0].type == "cuda":
        for job, device in zip(jobs, devices, strict=True):
            job()
            torch.cuda.synchronize(device)
    else:
        jobs[0]()
        pool.submit(jobs[1]).result()


def measure_products(params: Params, devices: Devices, process: int) -> list[Measurement]:
    """Time a run on each device, both sequentially, and both concurrently."""
    measured = []
    with thread_pool(1, devices.threads) as pool:
        for size in params.bench_parallel.sizes:
            jobs = [job_on(x) for x in random_matrices(size, devices, params.seed)]
            variants: dict[str, Variant] = {
                "first device only": jobs[0],
                "second device only": jobs[1],
                "sequentially": partial(one_after_the_other, jobs, devices.devices, pool),
                "concurrently": partial(together, jobs, devices.devices, pool),
            }
            control = "concurrently" if size == params.bench_parallel.largest else ""
            times = time_variants(variants, devices.devices, params.bench, process, control)
            measured += in_unit("products", size, times, "ms", devices)
    return measured


def measure_warm_up(params: Params, devices: Devices) -> list[Measurement]:
    """Time the first run of this process, before anything else computes in it, and later runs."""
    size = params.bench_parallel.largest
    x = random_matrices(size, devices, params.seed)[0]

    def seconds() -> float:
        start = read_clock([x.device])
        run(x)
        return read_clock([x.device]) - start

    times = {
        "first run": (seconds(),),
        "second run": (seconds(),),
        "later runs": tuple(seconds() for _ in range(params.bench.rounds)),
    }
    return in_unit("warm-up", size, times, "ms", devices)


def measure_waits(params: Params, devices: Devices, process: int) -> list[Measurement]:
    """Measure which GPUs `torch.cuda.synchronize` waits for; the second has twice the work."""
    waits = {
        "wait without an argument": torch.cuda.synchronize,  # as the notes wait
        "wait for the current GPU": lambda: torch.cuda.synchronize(torch.cuda.current_device()),
        "wait for both GPUs": lambda: synchronize(devices.devices),
    }
    experiment, size = "products, second job longer", params.bench_parallel.largest
    gpus = {device for device in devices.devices if device.type == "cuda"}
    if len(gpus) < 2:
        return [skip(experiment, wait, Reason(NEEDS_GPUS, "2"), devices.kind) for wait in waits]
    first, second = (job_on(x) for x in random_matrices(size, devices, params.seed))
    times: dict[str, tuple[float, ...]] = dict.fromkeys(waits, ())
    for job in (first, second):  # warm-up
        job()
    for name in balanced_turns(list(waits), params.bench.rounds, process * params.bench.rounds):
        start = read_clock(devices.devices)
        for job in (first, second, second):
            job()
        waits[name]()
        times[name] += (read_clock([]) - start,)
    return in_unit(experiment, size, times, "ms", devices)


def job_on(x: Tensor) -> Job:
    """Return a run of x, on a GPU in its own stream."""
    if not x.is_cuda:
        return partial(run, x)
    stream = torch.cuda.Stream(x.device)

    def job() -> None:
        with torch.cuda.stream(stream):  # also makes the stream's device current
            run(x)

    return job


def random_matrices(size: int, devices: Devices, seed: int) -> list[Tensor]:
    """Return a random matrix (size, size) on each device, ready for other streams."""
    generator = torch.Generator().manual_seed(seed)
    matrices = [torch.rand(size, size, generator=generator).to(d) for d in devices.devices]
    synchronize(devices.devices)
    return matrices


def products_of_a_run() -> int:
    """Count the products that `run` makes."""
    products = _Products()
    with products:
        run(torch.ones(2, 2))
    return products.count


class _Products(TorchDispatchMode):
    """A context that counts products."""

    count: int = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += func is torch.ops.aten.mm.default
        return func(*args, **(kwargs or {}))
