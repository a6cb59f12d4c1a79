"""The notes' comparison of numpy with torch, and the careless clocks that it could be read from."""

from collections.abc import Sequence

import numpy as np
import torch
from threadpoolctl import ThreadpoolController

from lab.machine.devices import Devices
from lab.results.measurements import Measurement, skip
from lab.timing.bench import Variant, balanced_turns, in_unit
from lab.timing.clock import synchronize
from stages.bench_async.measure import names
from stages.bench_async.measure.call_times import call_times
from stages.bench_async.measure.params import Params

REPEATS = 10  # products that the notes time together


def measure_careless_clocks(params: Params, devices: Devices, start: int) -> list[Measurement]:
    """Time products as the notes do, and fairly: one sample of each, of ten products.

    The notes' numpy computes in float64 with the threads that its library takes, torch in float32
    on the device, waited for and not; each draws its random numbers inside the clock. The fair
    variants multiply numbers drawn beforehand, in float32 with as many threads as the device has.
    """
    device, n = devices.devices[0], params.bench_async.book_size
    A = np.random.default_rng(params.seed).standard_normal((n, n), dtype=np.float32)
    a, C = torch.from_numpy(A).to(device), np.empty_like(A)
    c = torch.empty_like(a)
    blas = ThreadpoolController().select(user_api="blas")

    def numpy_products() -> None:
        for _ in range(REPEATS):
            b = np.random.normal(size=(n, n))
            np.dot(b, b)

    def torch_products(wait_for: Sequence[torch.device]) -> None:
        for _ in range(REPEATS):
            b = torch.randn(size=(n, n), device=device)
            torch.mm(b, b)
        synchronize(wait_for)

    def fair_numpy() -> None:
        with blas.limit(limits=devices.threads):
            for _ in range(REPEATS):
                np.dot(A, A, out=C)

    def fair_torch() -> None:
        for _ in range(REPEATS):
            torch.mm(a, a, out=c)
        synchronize([device])

    variants: dict[str, Variant] = {
        names.BOOK_NUMPY: numpy_products,
        names.NOT_WAITED_FOR: lambda: torch_products([]),
        names.WAITED_FOR: lambda: torch_products([device]),
        names.FAIR_NUMPY: fair_numpy,
        names.FAIR_TORCH: fair_torch,
    }
    found, missing = torch.cuda.device_count(), []
    if found >= 2:
        variants[names.WRONG_GPU] = lambda: torch_products([torch.device("cuda", 1)])
    else:
        missing = [
            skip(names.BOOK, names.WRONG_GPU, f"needs 2 CUDA GPUs, found {found}", devices.kind)
        ]
    np.dot(A, A, out=C)  # the notes warm up by one product
    torch.mm(a, a, out=c)
    times: dict[str, tuple[float, ...]] = {}
    for name in balanced_turns(list(variants), 1, start):
        times[name], _ = call_times(variants[name], devices, rounds=1)
    in_order = {name: times[name] for name in variants}
    return [*in_unit(names.BOOK, n, in_order, "ms", devices), *missing]
