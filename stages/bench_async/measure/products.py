"""Matrix products: the first of a process, until call and result, and numpy's beside torch's."""

import threading
from functools import partial

import numpy as np
import psutil
import torch
from threadpoolctl import ThreadpoolController

from lab.machine.devices import Devices
from lab.results.measurements import Measurement
from lab.timing.bench import in_unit, time_arms
from stages.bench_async.measure import names
from stages.bench_async.measure.call_times import call_times
from stages.bench_async.measure.params import Params

PARALLEL_ROWS = 512  # of a product that is worth two threads


def measure_first_product(size: int, devices: Devices) -> list[Measurement]:
    """Time the process's very first product, which pays for threads, libraries and memory.

    Only right if nothing has been multiplied before.
    """
    a = torch.ones(size, size).to(devices.devices[0])
    _, finishes = call_times(lambda: torch.mm(a, a), devices, rounds=1)
    return in_unit(names.FIRST_PRODUCT, size, {names.NO_WARM_UP: finishes}, "us", devices)


def measure_back_end_threads(devices: Devices) -> list[Measurement]:
    """Count the process's threads, Python's own apart, around its first parallel operation.

    Two threads are asked for, whatever the cores. Only right if none has been parallel before.
    """
    a = torch.ones(PARALLEL_ROWS, PARALLEL_ROWS)
    threads = torch.get_num_threads()
    before = _threads_beside_pythons()
    torch.set_num_threads(2)
    torch.mm(a, a)
    after = _threads_beside_pythons()
    torch.set_num_threads(threads)
    return [
        Measurement(names.THREADS, arm, 0, (count,), "threads", devices.kind)
        for arm, count in ((names.BEFORE, before), (names.AFTER, after))
    ]


def _threads_beside_pythons() -> int:
    return psutil.Process().num_threads() - threading.active_count()


def measure_products(params: Params, devices: Devices, start: int) -> list[Measurement]:
    """Time products until call and result, and against numpy's with as many threads."""
    rng = np.random.default_rng(params.seed)
    blas = ThreadpoolController().select(user_api="blas")
    measured = []
    for n in params.bench_async.sizes:
        A = rng.standard_normal((n, n), dtype=np.float32)
        a, C = torch.from_numpy(A).to(devices.devices[0]), np.empty_like(A)
        product = partial(torch.mm, a, a, out=torch.empty_like(a))
        arms = {names.TORCH: product, names.NUMPY: partial(np.dot, A, A, out=C)}
        with blas.limit(limits=devices.threads):
            times = time_arms(arms, devices.devices, params.bench, start, control=names.TORCH)
        measured += in_unit(names.NUMPY_TORCH, n, times, "us", devices)
        returns, finishes = call_times(product, devices, params.bench.rounds)
        both = {names.CALL_RETURNS: returns, names.RESULT_THERE: finishes}
        measured += in_unit(names.PRODUCT, n, both, "us", devices)
    return measured
