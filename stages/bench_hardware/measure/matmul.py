"""A matrix product given to the machine in four sizes of piece (section 12.4)."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from lab.machine.devices import Devices
from lab.results.measurements import Measurement
from lab.timing.bench import time_variants
from stages.bench_hardware.measure.names import AT_ONCE, BY_BLOCK, BY_COLUMN, BY_ELEMENT, MATMUL
from stages.bench_hardware.measure.params import Params
from stages.bench_hardware.measure.rates import gflop_per_s

SIZE = 256  # the book's
ROWS_BY_ELEMENT = 16  # of the product, since all of them take half a second


def by_elements(A: Tensor, B: Tensor) -> Tensor:
    """A @ B, one dot product of a row and a column at a time."""
    C = torch.empty(A.shape[0], B.shape[1])
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            C[i, j] = torch.dot(A[i], B[:, j])
    return C


def by_columns(A: Tensor, B: Tensor) -> Tensor:
    """A @ B, one product of the matrix with a column at a time."""
    C = torch.empty(A.shape[0], B.shape[1])
    for j in range(B.shape[1]):
        C[:, j] = torch.mv(A, B[:, j])
    return C


def by_blocks(A: Tensor, B: Tensor, width: int = 64) -> Tensor:
    """A @ B, a block of `width` columns at a time."""
    C = torch.empty(A.shape[0], B.shape[1])
    for j in range(0, B.shape[1], width):
        C[:, j : j + width] = torch.mm(A, B[:, j : j + width])
    return C


PRODUCTS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    BY_ELEMENT: by_elements,
    BY_COLUMN: by_columns,
    BY_BLOCK: by_blocks,
    AT_ONCE: torch.mm,
}


def measure_matmul(params: Params, host: Devices, start: int) -> list[Measurement]:
    """The rate of the book's product by elements, columns, blocks and at once.

    By elements only some of its rows are computed: a rate needs no more.
    """
    A, B = torch.rand(2, SIZE, SIZE, generator=torch.Generator().manual_seed(params.seed))
    rows = {variant: ROWS_BY_ELEMENT if variant == BY_ELEMENT else SIZE for variant in PRODUCTS}
    variants = {
        variant: partial(product, A[: rows[variant]], B) for variant, product in PRODUCTS.items()
    }
    times = time_variants(variants, [], params.bench, start)
    flop = {variant: 2.0 * count * SIZE**2 for variant, count in rows.items()}
    return gflop_per_s(MATMUL, SIZE, times, flop, host)
