"""What a device can do at best: the rates of arithmetic and of copies that steps are held against.

Each is that of the fastest of several pieces of work.
"""

from collections.abc import Callable, Sequence
from functools import partial

import torch

from lab.timing.bench import convolution
from lab.timing.clock import read_clock

CALLS = 8  # of each piece of work, of which the fastest counts
PRODUCT_ROWS = {"cpu": (512, 1024), "cuda": (2048, 8192)}  # of matrices, by kind of device
COPIED_MIB = {"cpu": (4, 64), "cuda": (256,)}
IMAGES = {"cpu": 16, "cuda": 256}  # of a convolution

Work = tuple[float, Callable[[], object]]  # an amount, and what does it


def arithmetic(device: torch.device, dtype: torch.dtype = torch.float32) -> list[Work]:
    """Matrix products and a convolution; amounts are in GFLOP."""
    matrices = [torch.rand(n, n, device=device).to(dtype) for n in PRODUCT_ROWS[device.type]]
    products = [
        (2e-9 * len(A) ** 3, partial(torch.mm, A, A, out=torch.empty_like(A))) for A in matrices
    ]
    return [*products, convolution(device, IMAGES[device.type], dtype)]


def copies(device: torch.device) -> list[Work]:
    """Copies in the device's memory; amounts are in GB, read and written."""
    sources = [torch.ones(mib * 2**18, device=device) for mib in COPIED_MIB[device.type]]
    return [(2e-9 * X.nbytes, partial(torch.empty_like(X).copy_, X)) for X in sources]


def fastest(works: Sequence[Work], device: torch.device, calls: int = CALLS) -> float:
    """Seconds per amount of the fastest of so many calls of each: what the device can do."""

    def seconds(call: Callable[[], object]) -> float:
        start = read_clock([device])
        call()
        return read_clock([device]) - start

    return min(seconds(call) / amount for amount, call in works for _ in range(calls))
