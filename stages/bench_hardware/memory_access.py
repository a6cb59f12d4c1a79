"""What memory costs: latency against working set, order and stride of access (section 13.4).

The notes show these as pictures of other people's machines.
"""

import ctypes
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lab.machine.devices import Devices
from lab.results.measurements import Measurement, skip
from lab.timing.bench import in_unit, time_arms
from stages.bench_hardware.names import (
    BY_COLUMNS,
    BY_ROWS,
    DEPENDENT_LOADS,
    LATENCY,
    ORDER,
    STRIDE,
    SUM,
)
from stages.bench_hardware.params import Params

CHASE_SOURCE = Path(__file__).with_name("chase.c")
CACHE_LINE = 64  # bytes
CHASE_STEPS = 200_000
ROWS = 2048  # of the matrix whose numbers are added up
STRIDES = (1, 2, 4, 8, 16, 32, 64, 128, 256)  # in float32 numbers
Chase = Callable[[NDArray[np.uint32], int], int]


def measure_latency(params: Params, host: Devices) -> list[Measurement]:
    """Nanoseconds of a dependent load in working sets of 4 KiB up."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        chase = compile_chase(Path(folder))
        if isinstance(chase, str):
            return [skip(LATENCY, DEPENDENT_LOADS, chase, host.kind)]
        end = 20 + params.bench_hardware.largest_working_set_mib.bit_length()
        measured = []
        for size in [2**e for e in range(12, end)]:
            chain = chain_of(size, params.seed)
            arm = partial(chase, chain, CHASE_STEPS)
            [seconds] = time_arms({DEPENDENT_LOADS: arm}, [], params.bench).values()
            per_load = {DEPENDENT_LOADS: tuple(t / CHASE_STEPS for t in seconds)}
            measured += in_unit(LATENCY, size, per_load, "ns", host)
    return measured


def measure_order(params: Params, host: Devices) -> list[Measurement]:
    """Milliseconds of adding up a matrix by rows and by columns."""
    matrix = _matrix(params.seed)
    arms = {BY_ROWS: lambda: sum_by_rows(matrix), BY_COLUMNS: lambda: sum_by_columns(matrix)}
    return in_unit(ORDER, ROWS, time_arms(arms, [], params.bench), "ms", host)


def measure_stride(params: Params, host: Devices) -> list[Measurement]:
    """Nanoseconds of a number in sums of equally many numbers at growing distances."""
    numbers = _matrix(params.seed).reshape(-1)
    count = len(numbers) // max(STRIDES)
    measured = []
    for stride in STRIDES:
        arm = numbers[: count * stride : stride].sum
        [seconds] = time_arms({SUM: arm}, [], params.bench).values()
        per_number = {SUM: tuple(t / count for t in seconds)}
        measured += in_unit(STRIDE, numbers.itemsize * stride, per_number, "ns", host)
    return measured


def _matrix(seed: int) -> NDArray[np.float32]:
    return np.random.default_rng(seed).random((ROWS, ROWS), dtype=np.float32)


def compile_chase(folder: Path) -> Chase | str:
    """A function (chain, steps) -> last index that runs at machine speed, or why there is none.

    Python's own loop takes tens of nanoseconds per step, which would hide the caches.
    """
    compiler = os.environ.get("CC") or next(filter(shutil.which, ("cc", "gcc", "clang")), None)
    if compiler is None:
        return "needs a C compiler (cc is not on PATH)"
    library = folder / "chase.so"
    command = [*compiler.split(), "-O2", "-shared", "-fPIC", str(CHASE_SOURCE), "-o", str(library)]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=60)
        function = ctypes.CDLL(str(library)).chase
    except (OSError, subprocess.SubprocessError) as error:
        return f"chase.c does not build here ({type(error).__name__})"
    function.argtypes = (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64)
    function.restype = ctypes.c_uint32
    return lambda chain, steps: int(function(chain.ctypes.data, 0, steps))


def chain_of(num_bytes: int, seed: int) -> NDArray[np.uint32]:
    """A cycle of indices that visits every cache line of `num_bytes` once, in random order.

    Random, so that no prefetcher guesses the next line; one entry per line, so that no line serves
    two steps.
    """
    step = CACHE_LINE // 4
    lines = max(2, num_bytes // CACHE_LINE)
    order = np.random.default_rng(seed).permutation(lines)
    chain = np.zeros(lines * step, np.uint32)
    chain[order * step] = np.roll(order, -1) * step
    return chain


def sum_by_rows(matrix: NDArray[np.float32]) -> float:
    """The sum of a row-major matrix, row after row: neighbours in memory."""
    return float(sum(row.sum() for row in matrix))


def sum_by_columns(matrix: NDArray[np.float32]) -> float:
    """The same sum, column after column: each number on another cache line."""
    return float(sum(column.sum() for column in matrix.T))
