"""What `optimizers` finds, against what is known in closed form or printed by the book."""

import numpy as np
import pytest

from lab.results.curves import rows_of
from stages.optimizers import names, quadratics
from stages.optimizers.section import section
from tests import smallest
from tests.helpers import draw


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
    assert len(m) <= 12
    for turned, metric in names.ADAGRAD_LOWER_PERCENT.items():
        adagrad, gd = (found[names.STARTS[turned], s].y for s in (names.ADAGRAD_2, names.GD_04))
        assert m[metric] == pytest.approx(100 * np.mean(adagrad < gd), abs=0.01)
    assert 0.5 < m[names.ADAGRAD_GROWTH_EXPONENT] < 1.5
    assert m[names.AIRFOIL_MINIMUM] > 0
    bound = m[names.AIRFOIL_RATE_BOUND]
    descent = found[names.RATES[names.AIRFOIL], names.SGD]
    assert (descent.diverged[descent.x > 10 * bound] == 1).all(), "2/λmax bounds descent's rate"


def test_a_rate_that_diverges_gives_a_row_with_its_share_and_step(found):
    row = rows_of([found[names.RATES[names.AIRFOIL], names.SGD]])[-1]
    assert row["diverged"] == 1
    assert row["diverged_step"] > 0
    assert row["y"] == ""


def test_every_rule_is_swept_on_every_problem_and_timed(found):
    for problem in names.PROBLEMS:
        best = [series for demo, series in found if demo == names.BEST[problem]]
        assert [names.rule_of(series) for series in best] == list(names.RULES), problem
    timed = {series: c for (demo, series), c in found.items() if demo == names.STEP_TIME}
    assert list(timed) == list(names.RULES)
    assert all(0 < c.low[0] <= c.y[0] <= c.high[0] for c in timed.values())


def test_the_page_says_what_was_found_on_what_data(found, tmp_path):
    smallest.write("optimizers", tmp_path)
    page = section(tmp_path / "optimizers")
    draw(page, tmp_path / "figures")
    assert {path.stem for path in (tmp_path / "figures").iterdir()} == {
        figure.name for figure in page.figures
    }
    percent = smallest.results("optimizers")[1][names.ADAGRAD_LOWER_PERCENT[45]]
    assert f"by 45 degrees and it does from {percent:.0f} % only" in page.findings[0]
    assert f"still at x₁ = {found[names.TRACE, names.ADAGRAD_04].x[-1]:.3f}" in page.findings[0]
    assert sum("SYNTHETIC" in figure.caption for figure in page.figures) == 2
    [table] = page.tables
    assert [row[-1] for row in table.rows] == ["–"] * len(table.rows), "nothing to compare with"
