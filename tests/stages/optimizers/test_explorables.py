"""The quadratic and the map of stability in a browser, against the rules of lab/optim."""

import math
import operator
from functools import partial
from itertools import product

import numpy as np
import pytest

from lab.optim import objectives, update_rules
from stages.optimizers.measure import quadratics
from stages.optimizers.page.explorables import quadratic, stability
from tests.explored import CHROMIUM, WHY_SKIPPED, check_keyboard, moved, opened

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason=WHY_SKIPPED)]
RULES = {
    "gd": lambda rate, beta: update_rules.gd(rate),
    "momentum": update_rules.momentum,
    "nesterov": update_rules.nesterov,
    "adagrad": lambda rate, beta: update_rules.adagrad(rate),
    "rmsprop": lambda rate, beta: update_rules.rmsprop(rate),
    "adadelta": lambda rate, beta: update_rules.adadelta(lr=rate),
    "adam": lambda rate, beta: update_rules.adam(rate),
    "yogi": lambda rate, beta: update_rules.yogi(rate),
}
SETTINGS = [
    {"rate": 0.4, "beta": 0.5, "steps": 20, "condition": 20, "angle": 0, "x1": -5, "x2": -2},
    {"rate": 0.6, "beta": 0.25, "steps": 20, "condition": 20, "angle": 45, "x1": 3.3, "x2": -4.7},
    {"rate": 0.01, "beta": 0, "steps": 1, "condition": 1, "angle": 90, "x1": -6, "x2": 6},
    {"rate": 2.5, "beta": 0.99, "steps": 40, "condition": 100, "angle": 17, "x1": 6, "x2": 0.1},
    {"rate": 0.05, "beta": 0.9, "steps": 100, "condition": 7, "angle": 62, "x1": 0.4, "x2": 5.9},
]
close = partial(pytest.approx, rel=1e-9, abs=0)


def growth(rule, curvature):
    """The spectral radius of a step of a linear rule, by what it does to (x, v)."""
    columns = []
    for x, v in ((1.0, 0.0), (0.0, 1.0)):
        new, state = rule.update(x, curvature * x, (v,) if rule.init(x) else ())
        columns.append([new, *(state or (0.0,))])
    return np.abs(np.linalg.eigvals(np.array(columns).T)).max()


@pytest.fixture(scope="module")
def drawn():
    with opened("optimizers", quadratic(), stability()) as found:
        yield found


def test_the_quadratic(drawn):
    root = drawn[0]
    for name, setting in product(RULES, SETTINGS):
        at, told = moved(root, {"rule": name, **setting})
        assert at == {"rule": name, **setting}
        rule = RULES[name](at["rate"], at["beta"])
        turned = {"eigenvalues": [2 / at["condition"], 2], "angle": np.radians(at["angle"])}
        gradient = partial(objectives.quadratic_gradient, **turned)
        start = np.array([at["x1"], at["x2"]])
        end = update_rules.trace(rule, gradient, start, int(at["steps"]))[-1]
        found = [told["x1"], told["x2"], told["value"]]
        assert found == close([*end, objectives.quadratic(end, **turned)]), (name, setting)
        if name in ("gd", "momentum", "nesterov"):
            bound = at["rate"] / told["of_bound"]
            on_it = growth(RULES[name](bound, at["beta"]), curvature=4)
            assert on_it == pytest.approx(1, rel=1e-6), "there it does not shrink any more"
        else:
            assert math.isnan(told["of_bound"])
    check_keyboard(root, "rate", "value")


def test_it_begins_with_the_notes_quadratic():
    at = {control.name: control.value for control in quadratic().controls}
    assert (at["x1"], at["x2"], at["steps"]) == (*quadratics.START, quadratics.TRACE_STEPS)
    assert (2 / at["condition"], 2) == tuple(quadratics.EIGENVALUES)


def test_the_map_of_stability(drawn):
    root = drawn[1]
    for curvature, beta in product((0.01, 0.5, 1.3, 2.4, 3.9, 4.5), (0, 0.07, 0.5, 0.9, 1)):
        at, told = moved(root, {"curvature": curvature, "beta": beta})
        assert at == {"curvature": curvature, "beta": beta}
        rule = update_rules.momentum(1.0, beta)
        path = update_rules.trace(rule, partial(operator.mul, curvature), 1.0, 40)
        assert told["last"] == close(path[-1]), at
        factor = growth(rule, curvature)
        assert told["growth"] == close(factor), at
        fate = "stays" if abs(factor - 1) < 1e-9 else "grows" if factor > 1 else "shrinks"
        assert told["fate"] == fate, at
    check_keyboard(root, "curvature", "last")


def test_the_start_is_dragged_in_the_plane_only(drawn):
    root = drawn[0]
    moved(root, {"x1": -5, "x2": -2})
    box, mouse = root.locator("svg").bounding_box(), root.page.mouse
    mouse.move(box["x"] + 0.2 * box["width"], box["y"] + 0.2 * box["height"])
    mouse.down()
    near, _ = moved(root, {})
    assert near["x1"] > -5
    assert near["x2"] > -2
    mouse.move(box["x"], box["y"])
    mouse.up()
    corner, _ = moved(root, {})
    assert (corner["x1"], corner["x2"]) == (-6, 6), "held to the plane"
    mouse.click(box["x"] + 0.6 * box["width"], box["y"] + 0.3 * box["height"])
    assert moved(root, {})[0] == corner, "beside it nothing can be dragged"
