"""The notes' comparison of NumPy with torch, timed in several ways."""

import numpy as np
import torch
from threadpoolctl import ThreadpoolController

from lab.machine.devices import Devices, usable_cores
from lab.results.measurements import Measurement, skip
from lab.results.reasons import NEEDS_GPUS, Reason
from lab.timing.bench import Variant, balanced_turns, in_unit
from lab.timing.clock import synchronize
from stages.bench_async.measure.calls import call_times
from stages.bench_async.measure.params import Params

REPEATS = 10  # products that the notes time together
NOTES_SIZE = 1000  # rows of their matrices


def numpy_products(n: int) -> None:
    """Do the notes' ten products in NumPy: float64, random numbers drawn inside the clock."""
    for _ in range(REPEATS):
        b = np.random.normal(size=(n, n))
        np.dot(b, b)


def torch_products(n: int, device: torch.device) -> None:
    """Do the notes' ten products in torch: float32 on a device, not synchronized."""
    for _ in range(REPEATS):
        b = torch.randn(size=(n, n), device=device)
        torch.mm(b, b)


def measure_timing_mistakes(params: Params, devices: Devices, process: int) -> list[Measurement]:
    """Time products as the notes do, and fairly: one sample of each, of ten products.

    In the notes' variant, NumPy's library chooses the number of threads. The fair variants multiply
    float32 numbers drawn beforehand, with a virtual device's number of threads; compared with a
    GPU, NumPy has all cores. Everything runs once before, since a GPU must be set up, and loads a
    kernel on its first call.
    """
    device, n = devices.devices[0], params.bench_async.book_size
    A = np.random.default_rng(params.seed).standard_normal((n, n), dtype=np.float32)
    a, C = torch.from_numpy(A).to(device), np.empty_like(A)
    c = torch.empty_like(a)
    blas = ThreadpoolController().select(user_api="blas")

    def waited_for(awaited: torch.device) -> None:
        torch_products(n, device)
        synchronize([awaited])

    cores = devices.threads if device.type == "cpu" else usable_cores()

    def fair_numpy() -> None:
        with blas.limit(limits=cores):
            for _ in range(REPEATS):
                np.dot(A, A, out=C)

    def fair_torch() -> None:
        for _ in range(REPEATS):
            torch.mm(a, a, out=c)
        synchronize([device])

    variants: dict[str, Variant] = {
        "numpy, float64": lambda: numpy_products(n),
        "torch, not waited for": lambda: torch_products(n, device),
        "torch, waited for": lambda: waited_for(device),
        "numpy, products alone": fair_numpy,
        "torch, products alone": fair_torch,
    }
    found, other, missing = torch.cuda.device_count(), "torch, another GPU waited for", []
    if found >= 2:
        variants[other] = lambda: waited_for(torch.device("cuda", 1))
    else:
        missing = [skip("book", other, Reason(NEEDS_GPUS, "2"), devices.kind)]
    for warm_up in variants.values():  # the notes warm up with one product
        warm_up()
    times: dict[str, tuple[float, ...]] = {}
    for name in balanced_turns(list(variants), 1, process):
        times[name], _ = call_times(variants[name], devices, rounds=1)
    in_order = {name: times[name] for name in variants}
    return [*in_unit("book", n, in_order, "ms", devices), *missing]
