import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.data.datasets import AIRFOIL_FILE, sha256
from lab.data.sources import AIRFOIL
from lab.optim import update_rules
from lab.optim.objectives import standardise
from stages.optimizers.measure.linear_regression import batches, descend, initial, problem
from tests.helpers import ROOT


def small_problem():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(60, 3)), np.ones(60)])
    return problem(X, X @ [1.0, -2.0, 0.5, 0.3] + 0.1 * rng.normal(size=60))


@given(st.integers(1, 30), st.integers(1, 40), st.integers(0, 9))
def test_batches_go_through_the_rows_once_an_epoch(batch_size, num_steps, seed):
    rows = list(batches(30, batch_size, num_steps, seed))
    per_epoch = 30 // batch_size
    assert len(rows) == num_steps
    for start in range(0, num_steps - per_epoch + 1, per_epoch):
        epoch = np.concatenate(rows[start : start + per_epoch])
        assert len(set(epoch)) == per_epoch * batch_size


def test_all_rates_and_seeds_at_once_are_each_run_alone():
    task, rates = small_problem(), np.array([0.01, 0.1])
    w = initial(3, 4, seed=5)
    together = descend(update_rules.adam, rates, task, w, 10, 12, 4, seed=7)
    assert together.steps.tolist() == [0, 4, 8, 12]
    for i, rate in enumerate(rates):
        for j in range(3):
            x, rule = w[j], update_rules.adam(float(rate))
            state = rule.init(x)
            for rows in batches(60, 10, 12, seed=7 + j):
                gradient = task.X[rows].T @ (task.X[rows] @ x - task.y[rows]) / 10
                x, state = rule.update(x, gradient, state)
            expected = 0.5 * np.mean((task.X @ x - task.y) ** 2) - task.minimum
            assert together.excess[-1, i, j] == pytest.approx(expected, rel=1e-9)


def test_descent_reaches_the_minimum():
    result = descend(
        update_rules.gd, np.array([0.3]), small_problem(), initial(2, 4, 0), 60, 400, 100, seed=0
    )
    assert (result.excess[-1] < 1e-12).all()
    assert not result.diverged_step.any()


def test_divergence_is_marked_with_its_first_step_and_never_comes_back():
    result = descend(
        update_rules.gd,
        np.array([0.1, 10.0]),
        small_problem(),
        initial(2, 4, 0),
        60,
        80,
        10,
        seed=0,
    )
    assert np.isfinite(result.excess[:, 0]).all()
    first = result.diverged_step[1]
    assert (first > 1).all()
    assert not result.diverged_step[0].any()
    for reading, step in zip(result.excess[:, 1], result.steps, strict=True):
        assert (np.isnan(reading) == (step >= first)).all()


def test_the_airfoil_minimum_is_the_known_one():
    own = Path(os.environ.get("LAB_DATA_MIRROR", "")) / "airfoil" / "airfoil_self_noise.dat"
    copies = [path for path in (ROOT / "data" / AIRFOIL_FILE, ROOT / own) if path.is_file()]
    originals = [path for path in copies if sha256(path.read_bytes()) == AIRFOIL.sha256]
    if not originals:
        pytest.skip("the original airfoil table is neither fetched nor in LAB_DATA_MIRROR")
    task = problem(*standardise(np.loadtxt(originals[0])))
    assert task.minimum == pytest.approx(0.241688, abs=5e-7)
    assert np.linalg.eigvalsh(task.hessian)[[0, -1]] == pytest.approx([0.174, 2.098], abs=1e-3)
