"""What `optimizers` finds, against what is known in closed form or printed by the book."""

import numpy as np
import pytest

from lab.core.shared_params import BenchParams
from lab.machine.devices import processor
from lab.results.curves import rows_of
from lab.results.measurements import again
from stages.optimizers.measure import names, one_start, quadratics
from tests import smallest
from tests.stages.optimizers.smallest import PARAMS


@pytest.fixture(scope="module")
def found():
    curves, _ = smallest.results("optimizers")
    return {(c.demo, c.series): c for c in curves}


def test_traces_end_where_the_books_do(found):
    for series, end in (
        (names.ADAGRAD_04, (-2.382563, -0.158591)),
        (names.GD_04, (-0.943467, -0.000073)),
    ):
        trace = found[names.TRACE, series]
        assert (trace.x[-1], trace.y[-1]) == pytest.approx(end, abs=1e-6), series


def test_adagrads_rates_are_those_of_its_sums(found):
    trace = found[names.TRACE, names.ADAGRAD_04]
    sums = np.cumsum((4 * trace.y[:-1]) ** 2)
    rates = found[names.ADAGRAD_RATES, "x2"].y
    assert rates == pytest.approx(np.sqrt(sums[0] / sums), rel=1e-6)


def test_the_measured_boundary_of_momentum_is_the_closed_form(found):
    measured, bound = (found[names.BOUNDARY, s].y for s in (names.MEASURED, names.BOUND))
    assert measured == pytest.approx(bound, abs=1e-3)


def test_the_measured_growth_of_momentum_is_the_spectral_radius():
    for beta, curvature in ((0.0, 0.5), (0.5, 1.0), (0.9, 3.0), (0.9, 3.9), (0.3, 2.7)):
        matrix = np.array([[1 - curvature, -beta], [curvature, beta]])
        radius = np.abs(np.linalg.eigvals(matrix)).max()
        growth = quadratics.growth(np.array(beta), np.array(curvature))
        assert growth == pytest.approx(radius, rel=0.01), (beta, curvature)


def test_metrics_are_few_and_follow_from_the_curves(found):
    _, m = smallest.results("optimizers")
    for turned, metric in names.ADAGRAD_LOWER_PERCENT.items():
        adagrad, gd = (found[names.STARTS[turned], s].y for s in (names.ADAGRAD_2, names.GD_04))
        assert m[metric] == pytest.approx(100 * np.mean(adagrad < gd), abs=0.01)
    assert m[names.AIRFOIL_MINIMUM] > 0
    bound = m[names.AIRFOIL_RATE_BOUND]
    descent = found[names.RATES[names.AIRFOIL], names.SGD]
    assert (descent.diverged[descent.x > 10 * bound] == 1).all(), "2/λmax bounds descent's rate"


def test_a_rate_that_diverges_gives_a_row_with_its_share_and_step(found):
    row = rows_of([found[names.RATES[names.AIRFOIL], names.SGD]])[-1]
    assert row["diverged"] == 1
    assert row["diverged_step"] > 0
    assert row["y"] == ""


def test_every_rule_is_swept_on_every_problem(found):
    for problem in names.PROBLEMS:
        best = [series for demo, series in found if demo == names.BEST[problem]]
        assert [names.rule_of(series) for series in best] == list(names.RULES), problem
        for rule in names.RULES:
            ends = found[names.BEST_ENDS[problem], rule].y
            assert len(ends) == PARAMS.num_seeds
        assert len(found[names.BEST_ENDS[problem], names.BEST_RULE].y) == PARAMS.num_seeds


def test_torchs_optimizers_end_where_those_from_scratch_do(found):
    for run in names.WITH_TORCH:
        scratch, torchs = (found[demo, run].y for demo in (names.ENDS, names.ONLY_THE_OPTIMIZER))
        assert torchs == pytest.approx(scratch, rel=0.01), run
    concise = found[names.NOTES_RUNS, names.concise(names.MOMENTUM_0005)]
    assert concise.x.tolist() == [0, 1, 2, 3, 4], "four epochs, as the notes have it"


def test_what_averages_keep_is_what_algebra_says(found):
    means = {
        series: found[names.AVERAGES, series].y.mean()
        for demo, series in found
        if demo == names.AVERAGES
    }
    assert means[names.EFFECTIVE_NUMBER] == pytest.approx(19, rel=0.1), "(1 + beta) / (1 - beta)"
    assert means[names.UNCORRECTED] == pytest.approx(1 - 0.999**100, rel=0.2)
    assert means[names.CORRECTED] == pytest.approx(1, rel=0.2)
    assert {s: found[names.STATE_SIZE, s].y.tolist() for s in (names.MOMENTUM, names.ADAM)} == {
        names.MOMENTUM: [1.0],
        names.ADAM: [2.0],
    }
    summed, formula = (found[names.GEOMETRIC_SUM, s].y for s in (names.SUMMED, names.FORMULA))
    assert formula[1:] == pytest.approx(summed[:-1]), "the notes' is the sum up to t - 1"


def test_epsilon_is_what_keeps_weights_of_absent_features_numbers(found):
    assert not found[names.BROKEN, names.WITH_EPSILON].y.any()
    assert found[names.BROKEN, names.WITHOUT_EPSILON].y.all()


def test_plain_descent_leaves_absent_features_alone_and_momentum_does_not(found):
    assert found[names.UPDATES_WHEN_ABSENT, names.SGD].y == [0]
    assert found[names.UPDATES_WHEN_ABSENT, names.MOMENTUM].y > 50


def test_a_step_is_timed_with_each_optimizer_and_one_of_them_twice():
    bench = BenchParams(starts=1, rounds=1, min_sample_ms=0.01)
    times = one_start.step_times(bench, processor(1), 0)
    assert [m.arm for m in times] == [
        names.SGD_STEP,
        names.ADAGRAD_STEP,
        names.LOSS_AND_GRADIENT,
        again(names.ADAGRAD_STEP),
    ]
