"""The chains of dependent and independent products: their results, and the same work in each."""

import threading
from collections import Counter
from itertools import pairwise

import torch

from lab.machine.devices import Devices
from lab.parallel.workers import thread_pool
from stages.bench_parallel.measure.dependencies import CHAINS, STEPS, factors, grow

TWO = Devices("cpu-virtual", [torch.device("cpu")] * 2, threads=1)


def power(x: torch.Tensor, n: int) -> torch.Tensor:
    return torch.linalg.matrix_power(x.double(), n)


def test_each_chain_is_a_power_of_the_matrix_and_the_work_is_the_same():
    matrices = factors(16, TWO, seed=0)
    with thread_pool(1, 1) as first, thread_pool(1, 1) as second:
        for name, chains in CHAINS.items():
            ends = grow(matrices, [first, second], chains)
            assert sum(map(len, chains)) == 2 * STEPS, name
            expected = power(matrices[0], 1 + 2 * STEPS // len(chains))
            for end in ends:
                torch.testing.assert_close(end.double(), expected, rtol=1e-3, atol=1e-6)


def test_the_products_are_made_on_the_devices_that_a_chain_names(monkeypatch):
    seen: list[str] = []

    class Logged(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if func in (torch.Tensor.matmul, torch.Tensor.__matmul__):
                seen.append(threading.current_thread().name)
            return super().__torch_function__(func, types, args, kwargs or {})

    matrices = [m.as_subclass(Logged) for m in factors(4, TWO, seed=0)]
    for name, chains in CHAINS.items():
        seen.clear()
        with thread_pool(1, 1) as first, thread_pool(1, 1) as second:
            grow(matrices, [first, second], chains)
        counts = Counter(seen)
        wanted = [2 * STEPS] if name == "dependent, one device" else [STEPS, STEPS]
        assert list(counts.values()) == wanted, name
        alternating = all(a != b for a, b in pairwise(seen))
        if name == "dependent, two devices":
            assert alternating, "each product waits for the other device's"


def test_powers_of_the_matrix_neither_vanish_nor_overflow():
    end = power(factors(64, TWO, seed=1)[0], 1 + 2 * STEPS)
    assert torch.isfinite(end).all()
    assert 1e-6 < end.abs().max() < 1e6
