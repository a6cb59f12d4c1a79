"""How fast this machine is right now, in half a second and without torch."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from lab.machine.limits import usable_cores

ROWS = 512
TURNS = 10_000
LONG_ENOUGH_S = 0.2  # for other processes to take their share of the time


@dataclass(frozen=True)
class Speed:
    """Of arithmetic on all usable cores, and of Python on one.

    Attributes:
        product_gflops: GFLOP/s of float32 products on a core, times the cores: threads of one
            product wait for each other, and on a busy machine do little else.
        python_mturns: million turns per second of an empty loop.
    """

    product_gflops: float
    python_mturns: float

    def times_as_long_as(self, other: "Speed") -> float:
        """How many times as long work takes here as it took at `other`'s speed.

        Half of the time counts as arithmetic, which more cores or wider instructions shorten, and
        half as Python, starting processes and waiting, which they do not.
        """
        arithmetic = other.product_gflops / self.product_gflops
        return (arithmetic + other.python_mturns / self.python_mturns) / 2


def measure() -> Speed:
    """The speed right now, whatever else runs here."""
    x = np.random.default_rng(0).random((ROWS, ROWS), dtype=np.float32)
    out = np.empty_like(x)
    with threadpool_limits(1):
        products = _per_second(lambda: np.matmul(x, x, out=out))
    gflops = usable_cores() * products * 2 * ROWS**3 / 1e9
    return Speed(round(gflops, 1), round(_per_second(_turns) * TURNS / 1e6, 1))


def _turns() -> None:
    for _ in range(TURNS):
        pass


def _per_second(work: Callable[[], object]) -> float:
    work()
    calls, start = 0, time.perf_counter()
    while (taken := time.perf_counter() - start) < LONG_ENOUGH_S:
        work()
        calls += 1
    return calls / taken
