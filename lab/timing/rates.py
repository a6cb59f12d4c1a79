"""A device's best rates of arithmetic and of copies, with which steps are compared.

Each rate is that of the fastest of several pieces of work.
"""

from collections.abc import Callable, Sequence
from functools import partial

import torch

from lab.timing.bench import convolution
from lab.timing.clock import read_clock

CALLS = 8  # per piece of work; the fastest counts
PRODUCT_ROWS = {"cpu": (512, 1024), "cuda": (2048, 8192)}  # of matrices, by kind of device
COPIED_MIB = {"cpu": (4, 64), "cuda": (256,)}
IMAGES = {"cpu": 16, "cuda": 256}  # of a convolution

Work = tuple[float, Callable[[], object]]  # an amount, and a call that does it


def arithmetic(device: torch.device, dtype: torch.dtype = torch.float32) -> list[Work]:
    """Return matrix products and a convolution, with amounts in GFLOP."""
    matrices = [torch.rand(n, n, device=device).to(dtype) for n in PRODUCT_ROWS[device.type]]
    products = [
        (2e-9 * len(A) ** 3, partial(torch.mm, A, A, out=torch.empty_like(A))) for A in matrices
    ]
    return [*products, convolution(device, IMAGES[device.type], dtype)]


def copies(device: torch.device) -> list[Work]:
    """Return copies within the device's memory, with amounts in GB, read and written."""
    sources = [torch.ones(mib * 2**18, device=device) for mib in COPIED_MIB[device.type]]
    return [(2e-9 * X.nbytes, partial(torch.empty_like(X).copy_, X)) for X in sources]


def fastest(works: Sequence[Work], device: torch.device, calls: int = CALLS) -> float:
    """Return the seconds per amount of the fastest of `calls` calls of each piece of work."""

    def seconds(call: Callable[[], object]) -> float:
        start = read_clock([device])
        call()
        return read_clock([device]) - start

    return min(seconds(call) / amount for amount, call in works for _ in range(calls))
