"""Results of `optimizers`, compared with closed forms and the book's printed numbers."""

import os
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lab.core.files import sha256
from lab.data.datasets import AIRFOIL_FILE
from lab.data.sources import AIRFOIL
from lab.optim import update_rules
from lab.optim.objectives import standardise
from lab.results.documents import read_results
from lab.results.measurements import Results, by_seed
from stages.optimizers.findings import cost_of_a_tenth, findings, last_error
from stages.optimizers.measure import averages, quadratics, regression, sweeps
from stages.optimizers.measure.names import BEST_RIVAL
from stages.optimizers.measure.regression import batches, descend, initial, problem
from tests import smallest
from tests.helpers import COMMITTED, ROOT


@pytest.fixture(scope="module")
def found():
    measured = smallest.results("optimizers")
    return Results(measured)


def test_traces_end_where_the_books_do(found):
    for rule, end in (("AdaGrad", (-2.382563, -0.158591)), ("GD", (-0.943467, -0.000073))):
        for coordinate, value in zip(("x1", "x2"), end, strict=True):
            trace = found.curves("trace", rate=0.4, coordinate=coordinate)[rule]
            assert len(trace.x) == 21
            assert trace.y[-1] == pytest.approx(value, abs=1e-6), (rule, coordinate)


def test_the_measured_boundary_of_momentum_is_the_closed_form(found):
    boundary = found.curves("stability_boundary")
    assert boundary["measured"].y == pytest.approx(boundary["2 + 2β"].y, abs=1e-3)


def test_the_measured_growth_of_momentum_is_the_spectral_radius():
    for beta, curvature in ((0.0, 0.5), (0.5, 1.0), (0.9, 3.0), (0.9, 3.9), (0.3, 2.7)):
        matrix = np.array([[1 - curvature, -beta], [curvature, beta]])
        radius = np.abs(np.linalg.eigvals(matrix)).max()
        growth = quadratics.growth(np.array(beta), np.array(curvature))
        assert growth == pytest.approx(radius, rel=0.01), (beta, curvature)


TORCHS = {
    "SGD": torch.optim.SGD,
    "momentum 0.9": partial(torch.optim.SGD, momentum=0.9),
    "Nesterov 0.9": partial(torch.optim.SGD, momentum=0.9, nesterov=True),
    "AdaGrad": torch.optim.Adagrad,
    "RMSProp": partial(torch.optim.RMSprop, alpha=0.9),
    "Adadelta": partial(torch.optim.Adadelta, rho=0.9, eps=1e-5),
    "Adam": torch.optim.Adam,
    "AdamW": torch.optim.AdamW,
}


@pytest.mark.parametrize("name", TORCHS)
def test_each_swept_optimizer_is_torchs_of_that_name(name):
    """Epsilons may differ, which hardly matters for gradients of this size."""
    gradients = np.random.default_rng(0).uniform(0.5, 2, (10, 3))
    x = np.ones(3)
    rule, theirs = sweeps.MAKE_RULE[name](0.01), torch.ones(3, dtype=torch.float64)
    optimizer, state = TORCHS[name]([theirs], lr=0.01), rule.init(x)
    for gradient in gradients:
        x, state = rule.update(x, gradient, state)
        theirs.grad = torch.tensor(gradient)
        optimizer.step()
    assert 1 - x == pytest.approx(1 - theirs.numpy(), rel=0.01)


def test_torchs_optimizers_end_where_those_from_scratch_do(found):
    for run in regression.CONCISE_RUNS:
        scratch, torchs = (
            found.one("airfoil_runs", run.name, 2, rate=run.rate, version=version).values
            for version in ("from scratch", "torch's optimizer")
        )
        assert torchs == pytest.approx(scratch, rel=0.01), run.name
        concise = found.series("airfoil_runs", run.name, version="concise")
        assert [m.x for m in concise] == [0, 1, 2, 3, 4], "four epochs, as the notes have it"


def test_momentum_averages_of_a_constant_gradient_approach_it():
    g = np.full((50, 2), 3.0)
    steps = np.arange(1, 51)[:, None]
    assert averages.momentum_averages(g) == pytest.approx(3 * (1 - 0.9**steps) * np.ones((1, 2)))


def test_gradient_averages_agree_with_algebra(found):
    effective = found.curves("gradient_averages")["effective samples of momentum 0.9"]
    assert effective.y == pytest.approx(19, rel=0.1), "(1 + beta) / (1 - beta)"
    sums = found.curves("geometric_sum")
    summed, formula = sums["summed"].y, sums["the notes' formula"].y
    assert formula[1:] == pytest.approx(summed[:-1]), "the notes' is the sum up to t - 1"


LIKED = "Nesterov 0.9"


def run_to_order(make_rule, rates, task, w, batch_size, num_steps, check_every, seed):
    """Stand in for `descend`: seeds 10 and 11 judge, 12 and 13 choose, and they disagree.

    Choosers find the lowest rate and LIKED better by 1 each, judges find them worse by 1 each.
    """
    liked = (rates == rates[0])[:, None] + float(make_rule is sweeps.MAKE_RULE[LIKED])
    chooses = np.isin(seed + np.arange(len(w)), [12, 13])
    excess = np.stack([np.where(chooses, 3 - liked, 10 + liked)] * 3)
    return regression.Trajectory(np.arange(3), excess, np.zeros(1), np.zeros(w.shape)[None])


def test_the_best_settings_are_chosen_and_judged_by_different_seeds(monkeypatch):
    for module in (sweeps, averages):
        monkeypatch.setattr(module, "descend", run_to_order)
    task = small_problem()
    chosen = sweeps.sweep(task, num_seeds=2, num_rates=3, seed=10)
    rates = {"by other seeds": chosen.best_rate("momentum 0.9")}
    found = Results(
        [
            *sweeps.by_rate("airfoil", chosen),
            *sweeps.at_best_rates("airfoil", chosen),
            *sweeps.epsilons("airfoil", task, chosen, seed=10),
            *averages.momentum_at(task, rates, num_seeds=2, seed=10),
        ]
    )
    assert min(value for m in found.measurements for value in m.values) == 10
    for rule in found.variants("best_rate"):
        best = found.one("best_rate", rule)
        excess = 12 if rule in (LIKED, BEST_RIVAL) else 11
        assert (best.x, best.values) == (chosen.rates[0], (excess, excess)), rule
    assert found.xs("best_epsilon", "Adam") == [sweeps.EPSILONS[0]]
    assert found.one("momentum_at", "momentum 0.9").values == (11, 11)


def test_the_swept_rates_reach_beyond_the_best_ones():
    """Otherwise a rule would not be compared at its best rate, or not at a tenth of it."""
    lowest, highest = sweeps.SWEPT_RATES
    committed = read_results(COMMITTED / "reports" / "optimizers").measurements
    best = [m for m in committed if m.experiment == "best_rate"]
    assert {m.variant for m in best} > set(sweeps.RULES)
    for m in best:
        assert lowest < m.x < highest, m
        if m.columns["problem"] == "airfoil":
            assert lowest < m.x / 10, m


RATES = {0.001: 9, 0.01: 6, 0.1: 3, 1.0: 2}  # a judging seed's excess at each rate


def test_the_cost_of_a_tenth_is_relative_to_the_rate_that_other_seeds_chose():
    made = [
        *(by_seed("rates", "Adam", [y], rate, problem="airfoil") for rate, y in RATES.items()),
        by_seed("best_rate", "Adam", [RATES[0.1]], 0.1, problem="airfoil"),
    ]
    assert cost_of_a_tenth(Results(made), "Adam").values == (6 / 3,)


def test_errors_left_are_relative_to_the_best_weights():
    best = np.array([[1.0, 2.0, 2.0, 5.0]] * 2)
    weights = np.array([[0.0, 0.0, 0.0, 0.0], [1.0, 2.0, 0.0, 0.0]])
    left = sweeps.error_left(weights, best, np.array([1, 2]))
    assert left == pytest.approx([1.0, 0.5])


def test_an_error_is_that_of_the_last_number():
    assert last_error([1, 2], [9, 1.5]) == pytest.approx(25)


def test_the_rule_farthest_from_torchs_counts_for_each_seed():
    """Three rules, two seeds: ratios (1, 2), (1.5, 1) and (1, 1), so 1.5 and 2 are the farthest."""
    ends = {
        ("momentum 0.9", 0.005): ([2, 2], [2, 1]),
        ("AdaGrad", 0.1): ([3, 1], [2, 1]),
        ("Adam", 0.01): ([1, 1], [1, 1]),
    }
    made = [
        by_seed("airfoil_runs", rule, excess, 2, rate=rate, batch_size=10, version=version)
        for (rule, rate), pair in ends.items()
        for version, excess in zip(("torch's optimizer", "from scratch"), pair, strict=True)
    ]
    assert findings(Results(made))["torch_over_scratch"].value == 1.75


def test_the_worst_problem_counts_for_each_seed():
    """Three problems, two seeds: ratios (1, 4), (3, 1) and (1, 1), so 3 and 4 are the worst."""
    ends = {"airfoil": ([1, 4], [1, 1]), "ill": ([3, 1], [1, 1]), "sparse": ([1, 1], [1, 1])}
    made = [
        by_seed("epsilons", "Adam", excess, epsilon, problem=problem)
        for problem, pair in ends.items()
        for excess, epsilon in zip(pair, (1e-8, 1e-6), strict=True)
    ]
    assert findings(Results(made))["torchs_epsilon_over_the_notes"].value == 3.5


def small_problem():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(60, 3)), np.ones(60)])
    return problem(X, X @ [1.0, -2.0, 0.5, 0.3] + 0.1 * rng.normal(size=60))


@given(st.integers(1, 30), st.integers(1, 40), st.integers(0, 9))
def test_batches_go_through_the_rows_once_an_epoch(batch_size, num_steps, seed):
    rows = [rows for [rows] in batches(30, batch_size, num_steps, [seed])]
    per_epoch = 30 // batch_size
    assert len(rows) == num_steps
    for start in range(0, num_steps - per_epoch + 1, per_epoch):
        epoch = np.concatenate(rows[start : start + per_epoch])
        assert len(set(epoch)) == per_epoch * batch_size


def three_problems():
    """Return one problem for each of three starting points."""
    rng = np.random.default_rng(1)
    return problem(rng.normal(size=(3, 60, 4)), rng.normal(size=(3, 60)))


@pytest.mark.parametrize("task", [small_problem(), three_problems()], ids=["shared", "own"])
def test_rates_and_seeds_run_together_equal_separate_runs(task):
    rates = np.array([0.01, 0.1])
    w = initial(3, 4, seed=5)
    together = descend(update_rules.adam, rates, task, w, 10, 12, 4, seed=7)
    assert together.steps.tolist() == [0, 4, 8, 12]
    for i, rate in enumerate(rates):
        for j in range(3):
            x, rule = w[j], update_rules.adam(float(rate))
            state, own = rule.init(x), j % len(task.X)
            X, y = task.X[own], task.y[own]
            for [rows] in batches(60, 10, 12, [7 + j]):
                gradient = X[rows].T @ (X[rows] @ x - y[rows]) / 10
                x, state = rule.update(x, gradient, state)
            least = np.mean((X @ np.linalg.lstsq(X, y)[0] - y) ** 2)
            expected = 0.5 * (np.mean((X @ x - y) ** 2) - least)
            assert together.excess[-1, i, j] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("draw", [regression.ill_conditioned, regression.sparse])
def test_a_seeds_problem_does_not_depend_on_the_other_seeds(draw):
    many, alone = draw(range(5, 9)), draw([7])
    for task in (many, regression.rotated(many, range(5, 9))):
        assert len({X.tobytes() for X in task.X}) == 4
    assert (many.X[2] == alone.X[0]).all()
    assert (many.y[2] == alone.y[0]).all()


def test_rotation_changes_only_the_coordinates():
    task = regression.ill_conditioned([3])
    turned = regression.rotated(task, [3])
    assert turned.minimum == pytest.approx(task.minimum)
    assert np.linalg.eigvalsh(turned.hessian) == pytest.approx(np.logspace(-3, 0, 20)[None])
    assert np.diag(task.hessian[0]) == pytest.approx(np.logspace(0, -3, 20))


def test_a_seeds_value_is_the_mean_of_its_own_runs_after_that_epoch():
    task, runs, per_epoch = small_problem(), averages.RUNS_PER_SEED, 6
    found = Results(list(averages.corrections(task, 2, seed=3)))
    w = initial(2 * runs, 4, seed=3)[runs:]
    for epochs in (2, 4):
        steps = epochs * per_epoch
        own = descend(update_rules.adam, np.array([0.01]), task, w, 10, steps, steps, 3 + runs)
        values = found.one("bias_correction", "Adam", epochs).values
        assert values[1] == pytest.approx(own.excess[-1].mean())


def test_divergence_is_marked_from_its_first_step_on():
    start, rates = initial(2, 4, 0), np.array([0.1, 10.0])
    result = descend(update_rules.gd, rates, small_problem(), start, 60, 80, 10, seed=0)
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
    assert np.linalg.eigvalsh(task.hessian[0])[[0, -1]] == pytest.approx([0.174, 2.098], abs=1e-3)
