"""What `landscapes` finds, against what is known in closed form."""

import math

import pytest

from stages.landscapes import names
from stages.landscapes.section import section
from tests import smallest


def test_landscapes_finds_what_is_known():
    curves, m = smallest.results("landscapes")
    assert (m[names.ARGMIN_RISK], m[names.ARGMIN_EMPIRICAL_RISK]) == (1.090408, 1.016983)
    assert m[names.EXCESS_RISK] == pytest.approx(0.0312, abs=5e-5)
    assert -0.8 < m[names.GAP_EXPONENT] < -0.2, "theory says a half"
    assert (m[names.SADDLE_EIGENVALUE_LOW], m[names.SADDLE_EIGENVALUE_HIGH]) == (-2, 2)
    assert m[names.GD_STEPS_FROM_0] == names.SADDLE_LIMIT, "on the line itself GD never leaves"
    assert len(m) <= 12

    steps = {
        c.series: dict(zip(c.x, c.y, strict=True)) for c in curves if c.demo == names.SADDLE_ESCAPE
    }
    [millionth] = [x for x in steps[names.GD] if x == pytest.approx(1e-6)]
    by_hand = math.ceil(math.log(1e6) / math.log(1 + 2 * 0.05))
    assert steps[names.GD][millionth] == by_hand, "x2 grows by 1.1 a step"
    assert steps[names.NOISY_GD][0] < 500
    for faster in (names.MOMENTUM, names.ADAM):
        assert steps[faster][millionth] < by_hand, faster


def test_random_matrices_have_as_many_negative_eigenvalues_as_positive_and_are_rarely_minima():
    curves, _ = smallest.results("landscapes")
    found = {c.series: c.y for c in curves if c.demo == names.NEGATIVE_EIGENVALUES}
    assert found[names.NEGATIVE_SHARE] == pytest.approx(0.5, abs=0.15)
    one, _, twenty = found[names.WITHOUT_NEGATIVE]
    assert one == pytest.approx(0.5, abs=0.15)
    assert twenty == 0


def test_the_page_says_what_was_found(tmp_path):
    smallest.write("landscapes", tmp_path)
    page = section(tmp_path / "landscapes")
    text = " ".join([*page.findings, *(figure.caption for figure in page.figures)])
    for said in (
        "minimum -1.0467 at x = 1.0904",
        "-1.2085 at x = 1.0170",
        "needs 145 steps to leave",
        "whose gradient at 4 is 0.0013",
    ):
        assert said in text, said
