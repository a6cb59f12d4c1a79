"""The cost of memory access: latency by working set, reuse, order and stride (section 13.4).

The notes show these on slides, with numbers from a different machine.
"""

import ctypes
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from itertools import count, takewhile
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from lab.machine.devices import Devices
from lab.results.measurements import Measurement, skip
from lab.results.reasons import FAILED, NEEDS, Reason
from lab.timing.bench import Variant, in_unit, time_variants
from stages.bench_hardware.measure.params import Params

CACHE_LINE = 64  # bytes
CHASE_STEPS = 100_000  # three calls visit every line of a 16 MiB cache
BLOCK = 2**15  # numbers: 128 KiB, which fit in a second-level cache
VISITS = 8  # of each block
ROWS = 2048  # of the matrix that is summed
STRIDES = (1, 4, 8, 16, 32, 64, 256)  # in float32 numbers
Chase = Callable[[NDArray[np.uint32], int, int], int]  # chain, start, steps -> last index


# --- latency: chasing pointers through a working set ---


def measure_latency(params: Params, host: Devices, process: int) -> list[Measurement]:
    """Time a dependent load in working sets from 4 KiB up, and one in order in the largest."""
    variants = random, in_order = "dependent loads", "loads in order"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        chase = compile_chase(Path(folder))
        if isinstance(chase, Reason):
            return [skip("latency", variant, chase, host.kind) for variant in variants]
        largest = params.bench_hardware.largest_working_set_mib * 2**20
        sizes = list(takewhile(lambda size: size <= largest, (4**e for e in count(6))))
        walks = {f"{size} bytes": walk(chase, chain_of(size, params.seed)) for size in sizes}
        walks[in_order] = walk(chase, chain_of(sizes[-1], None))
        times = time_variants(walks, [], params.bench, process)
    settings = [*((random, size) for size in sizes), (in_order, sizes[-1])]
    return [
        _nanoseconds("latency", variant, size, seconds, CHASE_STEPS, host)
        for (variant, size), seconds in zip(settings, times.values(), strict=True)
    ]


def chain_of(num_bytes: int, seed: int | None) -> NDArray[np.uint32]:
    """Make a cycle of indices that visits every cache line of `num_bytes` once.

    The order is random, so that no prefetcher guesses the next line, or without a seed the order in
    memory. Each line has one entry, so that no line serves two steps.
    """
    lines, step = max(2, num_bytes // CACHE_LINE), CACHE_LINE // 4
    order = np.arange(lines, dtype=np.uint32)
    if seed is not None:
        np.random.default_rng(seed).shuffle(order)
    chain = np.zeros((lines, step), np.uint32)
    chain[order, 0] = np.roll(order, -1) * step
    return chain.reshape(-1)


def walk(chase: Chase, chain: NDArray[np.uint32]) -> Variant:
    """Return a variant that resumes where its last call stopped, to cover the chain."""
    at = 0

    def steps() -> None:
        nonlocal at
        at = chase(chain, at, CHASE_STEPS)

    return steps


def compile_chase(folder: Path) -> Chase | Reason:
    """Compile the loop of chase.c, or return the reason why it cannot be.

    Python's own loop takes tens of nanoseconds per step, which would hide the caches.
    """
    compiler = os.environ.get("CC") or next(filter(shutil.which, ("cc", "gcc", "clang")), None)
    if compiler is None:
        return Reason(NEEDS, "a C compiler (cc is not on PATH)")
    source, library = Path(__file__).with_name("chase.c"), folder / "chase.so"
    command = [*compiler.split(), "-O2", "-shared", "-fPIC", str(source), "-o", str(library)]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=60)
        function = ctypes.CDLL(str(library)).chase
    except (OSError, subprocess.SubprocessError) as error:
        return Reason(FAILED, type(error).__name__)
    function.argtypes = (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64)
    function.restype = ctypes.c_uint32
    return lambda chain, start, steps: int(function(chain.ctypes.data, start, steps))


# --- reuse, order and stride ---


def measure_reuse(params: Params, host: Devices, process: int) -> list[Measurement]:
    """Time 8 passes over data: block by block, each 8 times, or all blocks 8 times."""
    data = torch.ones(params.bench_hardware.copy_mib * 2**18)
    blocks = data.split(BLOCK)
    variants = {
        "each block 8 times": lambda: [torch.dot(b, b) for b in blocks for _ in range(VISITS)],
        "8 times all blocks": lambda: [torch.dot(b, b) for _ in range(VISITS) for b in blocks],
    }
    times = time_variants(variants, [], params.bench, process)
    return in_unit("reuse", data.nbytes, times, "ms", host)


def measure_order(params: Params, host: Devices, process: int) -> list[Measurement]:
    """Time summing a matrix that is stored by columns, row by row and column by column."""
    matrix = np.asfortranarray(_matrix(params.seed))
    by_columns = "column by column, stored by columns"
    variants = {
        "row by row, stored by columns": lambda: sum_by_rows(matrix),
        by_columns: lambda: sum_by_columns(matrix),
    }
    times = time_variants(variants, [], params.bench, process, control=by_columns)
    return in_unit("order", ROWS, times, "ms", host)


def sum_by_rows(matrix: NDArray[np.float32]) -> float:
    """Sum row by row; stored by columns, a row has each number on a different cache line."""
    return float(sum(row.sum() for row in matrix))


def sum_by_columns(matrix: NDArray[np.float32]) -> float:
    """Sum column by column; stored by columns, the numbers are neighbours in memory."""
    return float(sum(column.sum() for column in matrix.T))


def measure_stride(params: Params, host: Devices, process: int) -> list[Measurement]:
    """Time sums of equally many numbers, in ns per number; x: bytes from one to the next."""
    numbers = _matrix(params.seed).reshape(-1)
    length = len(numbers) // max(STRIDES)
    sums = {f"{stride}": numbers[: length * stride : stride].sum for stride in STRIDES}
    times = time_variants(sums, [], params.bench, process)
    return [
        _nanoseconds("stride", "sum", numbers.itemsize * stride, seconds, length, host)
        for stride, seconds in zip(STRIDES, times.values(), strict=True)
    ]


def _matrix(seed: int) -> NDArray[np.float32]:
    return np.random.default_rng(seed).random((ROWS, ROWS), dtype=np.float32)


def _nanoseconds(
    experiment: str, variant: str, x: float, seconds: tuple[float, ...], steps: int, host: Devices
) -> Measurement:
    """Convert the seconds of a call of `steps` steps to nanoseconds per step."""
    values = tuple(1e9 * t / steps for t in seconds)
    return Measurement(experiment, variant, x, values, "ns", host.kind, host.threads)
