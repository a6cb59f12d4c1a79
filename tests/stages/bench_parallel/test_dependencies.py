"""The chains of dependent and independent products: their results, and the same work in each."""

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
