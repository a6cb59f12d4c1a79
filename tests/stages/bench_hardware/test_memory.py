import shutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stages.bench_hardware.measure import memory
from stages.bench_hardware.measure.memory import CACHE_LINE, chain_of, compile_chase


@given(st.integers(1, 200), st.integers(0, 100))
def test_a_chain_visits_every_cache_line_once_and_comes_back(lines, seed):
    chain = chain_of(lines * CACHE_LINE, seed)
    lines = max(2, lines)
    visited, i = [], 0
    for _ in range(lines):
        visited.append(i * 4 // CACHE_LINE)
        i = int(chain[i])
    assert sorted(visited) == list(range(lines))
    assert i == 0
    assert chain.nbytes == lines * CACHE_LINE


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_the_compiled_chase_follows_the_chain(tmp_path):
    chase, chain = compile_chase(tmp_path), chain_of(1 << 14, seed=3)
    i = 0
    for steps in range(1, 50):
        i = int(chain[i])
        assert chase(chain, 0, steps) == i


def test_both_orders_add_up_the_same_numbers():
    matrix = np.random.default_rng(0).random((30, 40), dtype=np.float32)
    assert memory.sum_by_rows(matrix) == pytest.approx(matrix.sum(), rel=1e-5)
    assert memory.sum_by_columns(matrix) == pytest.approx(matrix.sum(), rel=1e-5)
