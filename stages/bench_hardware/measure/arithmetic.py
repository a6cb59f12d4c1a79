"""Sums and a matrix multiplication, in small pieces and in one call (section 13.4)."""

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor

from lab.machine.devices import Devices
from lab.results.measurements import Measurement
from lab.timing.bench import Variant, in_unit, time_variants
from stages.bench_hardware.measure.params import Params

SIZE = 256  # rows of the matrices, the book's
ROWS_BY_ELEMENT = 4  # of the result; all of them would take half a second
NUMBERS = 10_000  # to be added up


def measure_adding(params: Params, host: Devices, process: int) -> list[Measurement]:
    """Time adding two vectors, element by element and in one call."""
    a, b = torch.rand(2, NUMBERS, generator=torch.Generator().manual_seed(params.seed))
    variants: dict[str, Variant] = {
        "Python loop": partial(add_in_a_loop, a.tolist(), b.tolist(), [0.0] * NUMBERS),
        "one call": lambda: a + b,
    }
    times = time_variants(variants, [], params.bench, process, control="one call")
    return in_unit("adding", NUMBERS, times, "us", host)


def add_in_a_loop(x: Sequence[float], y: Sequence[float], z: list[float]) -> None:
    """Compute z = x + y as on the notes' slide."""
    for i in range(len(x)):
        z[i] = x[i] + y[i]


def measure_matmul(params: Params, host: Devices, process: int) -> list[Measurement]:
    """Measure the rate of the book's matrix multiplication in each of WAYS.

    By elements, only ROWS_BY_ELEMENT rows are computed, which is enough for a rate.
    """
    A, B = torch.rand(2, SIZE, SIZE, generator=torch.Generator().manual_seed(params.seed))
    rows = {variant: ROWS_BY_ELEMENT if f is by_elements else SIZE for variant, f in WAYS.items()}
    variants = {variant: partial(f, A[: rows[variant]], B) for variant, f in WAYS.items()}
    times = time_variants(variants, [], params.bench, process)
    flop = {variant: 2 * count * SIZE**2 for variant, count in rows.items()}
    rates = {variant: tuple(flop[variant] / t / 1e9 for t in times[variant]) for variant in WAYS}
    return [
        Measurement("matmul", variant, SIZE, values, "GFLOP/s", host.kind, host.threads)
        for variant, values in rates.items()
    ]


def by_elements(A: Tensor, B: Tensor) -> Tensor:
    """Compute A @ B as one dot product per element."""
    C = torch.empty(A.shape[0], B.shape[1])
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            C[i, j] = torch.dot(A[i], B[:, j])
    return C


def by_columns(A: Tensor, B: Tensor) -> Tensor:
    """Compute A @ B as one matrix-vector product per column."""
    C = torch.empty(A.shape[0], B.shape[1])
    for j in range(B.shape[1]):
        C[:, j] = torch.mv(A, B[:, j])
    return C


def by_blocks(A: Tensor, B: Tensor, width: int = 64) -> Tensor:
    """Compute A @ B as one matrix multiplication per `width` columns."""
    C = torch.empty(A.shape[0], B.shape[1])
    for j in range(0, B.shape[1], width):
        C[:, j : j + width] = torch.mm(A, B[:, j : j + width])
    return C


WAYS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "one element at a time": by_elements,
    "one column at a time": by_columns,
    "64 columns at a time": by_blocks,
    "all at once": torch.mm,
}
