"""The notes' comparison of numpy with torch, and the careless clocks that it could be read from."""

from collections.abc import Sequence

import numpy as np
import torch

from lab.machine.devices import Devices
from lab.results.measurements import Measurement, skip
from lab.timing.bench import Arm, in_unit, turns
from lab.timing.clock import synchronize
from stages.bench_async import names
from stages.bench_async.call_times import call_times
from stages.bench_async.params import Params

REPEATS = 10  # products that the notes time together


def measure_careless_clocks(params: Params, devices: Devices) -> list[Measurement]:
    """Time products as the notes do: numpy's in float64, torch's with and without waiting."""
    device, n = devices.devices[0], params.bench_async.book_size

    def numpy_products() -> None:
        for _ in range(REPEATS):
            a = np.random.normal(size=(n, n))
            np.dot(a, a)

    def torch_products(wait_for: Sequence[torch.device]) -> None:
        for _ in range(REPEATS):
            a = torch.randn(size=(n, n), device=device)
            torch.mm(a, a)
        synchronize(wait_for)

    arms: dict[str, Arm] = {
        names.BOOK_NUMPY: numpy_products,
        names.NOT_WAITED_FOR: lambda: torch_products([]),
        names.WAITED_FOR: lambda: torch_products([device]),
    }
    found, missing = torch.cuda.device_count(), []
    if found >= 2:
        arms[names.WRONG_GPU] = lambda: torch_products([torch.device("cuda", 1)])
    else:
        missing = [
            skip(names.BOOK, names.WRONG_GPU, f"needs 2 CUDA GPUs, found {found}", devices.kind)
        ]
    times: dict[str, tuple[float, ...]] = dict.fromkeys(arms, ())
    for name in turns(arms, params.bench.rounds):
        returns, _ = call_times(arms[name], devices, rounds=1)
        times[name] += returns
    return [*in_unit(names.BOOK, n, times, "ms", devices), *missing]
