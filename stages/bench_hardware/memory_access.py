"""What memory costs: latency against working set, order and stride of access, bandwidth (section
13.4).

The notes show these as pictures of other people's machines.
"""

import ctypes
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

CHASE_SOURCE = Path(__file__).with_name("chase.c")
CACHE_LINE = 64  # bytes
Chase = Callable[[NDArray[np.uint32], int], int]


def compile_chase(folder: Path) -> Chase | str:
    """Return a function (chain, steps) -> last index that runs at machine speed, or why there is
    none.

    Python's own loop takes tens of nanoseconds per step, in which the caches disappear.
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
    """Return a chain of indices that visits every cache line of `num_bytes` once, in random order,
    and starts over.

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
    """Return the sum of a row-major matrix, adding up row after row: neighbours in memory."""
    return float(sum(row.sum() for row in matrix))


def sum_by_columns(matrix: NDArray[np.float32]) -> float:
    """Return the same sum, column after column: each number on another cache line."""
    return float(sum(column.sum() for column in matrix.T))
