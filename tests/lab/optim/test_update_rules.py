import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lab.optim import update_rules

# Each rule, and torch's optimizer with the same hyper-parameters.
TORCH = {
    "gd": (update_rules.gd(0.05), lambda p: torch.optim.SGD(p, 0.05)),
    "momentum": (
        update_rules.momentum(0.05, 0.9),
        lambda p: torch.optim.SGD(p, 0.05, momentum=0.9),
    ),
    "nesterov": (
        update_rules.nesterov(0.05, 0.9),
        lambda p: torch.optim.SGD(p, 0.05, momentum=0.9, nesterov=True),
    ),
    "adagrad": (
        update_rules.adagrad(0.1, eps=1e-10, inside=False),
        lambda p: torch.optim.Adagrad(p, 0.1),
    ),
    "rmsprop": (
        update_rules.rmsprop(0.01, 0.99, 1e-8, inside=False),
        lambda p: torch.optim.RMSprop(p, 0.01),
    ),
    "adadelta": (update_rules.adadelta(1.0, 0.9, 1e-6), lambda p: torch.optim.Adadelta(p, 1.0)),
    "adam": (update_rules.adam(0.01, eps=1e-8), lambda p: torch.optim.Adam(p, 0.01)),
    "adamw": (update_rules.adamw(0.01), lambda p: torch.optim.AdamW(p, 0.01)),
}
MAKERS = {name: rule.make for name, rule in update_rules.RULES.items()} | {
    "decaying_gd": update_rules.decaying_gd,
    "counting_gd": update_rules.counting_gd,
}
EVERY_RULE = {name: make(0.01) for name, make in MAKERS.items()}


def regression(seed):
    generator = torch.Generator().manual_seed(seed)
    X, y, w = (
        torch.randn(*shape, generator=generator, dtype=torch.float64)
        for shape in ((120, 5), (120,), (5,))
    )
    return X, y, w


def steps_of(rule, gradients):
    """Return the steps (n, d) that a rule takes with gradients (n, d), each from 0."""
    state, steps = rule.init(gradients[0]), []
    for g in gradients:
        step, state = rule.update(np.zeros_like(g), g, state)
        steps.append(step)
    return np.array(steps)


@pytest.mark.parametrize("name", TORCH)
def test_a_rule_takes_the_same_steps_as_torchs_optimizer(name):
    """Loss (half the mean squared error), batches, initial weights and settings are the same."""
    rule, make = TORCH[name]
    for seed in (0, 1):
        X, y, w = regression(seed)
        theirs = w.clone().requires_grad_()
        optimizer = make([theirs])
        state = rule.init(w)
        for step in range(60):
            rows = slice(step % 12 * 10, step % 12 * 10 + 10)
            w, state = rule.update(w, X[rows].T @ (X[rows] @ w - y[rows]) / 10, state)
            optimizer.zero_grad()
            (0.5 * ((X[rows] @ theirs - y[rows]) ** 2).mean()).backward()
            optimizer.step()
            torch.testing.assert_close(w, theirs.detach(), rtol=1e-10, atol=1e-12)


@given(x=st.floats(-5, 5).filter(lambda x: x == 0 or x * x > 0), seed=st.integers(0, 99))
def test_floats_arrays_and_tensors_take_the_same_steps(x, seed):
    gradients = np.random.default_rng(seed).normal(size=4)
    kinds = (float, lambda v: np.array([v]), lambda v: torch.tensor([v], dtype=torch.float64))
    for name, rule in EVERY_RULE.items():
        ends = []
        for kind in kinds:
            value = kind(x)
            state = rule.init(value)
            for g in gradients:
                value, state = rule.update(value, kind(g), state)
            ends.append(float(np.asarray(value).item()))
        assert ends[1:] == pytest.approx([ends[0]] * 2, rel=1e-12, abs=1e-14), name


def test_rates_fall_with_steps_or_with_counts():
    gradients = [np.array([1.0, 0.0]), np.array([1.0, 0.0]), np.array([1.0, 1.0])]
    ends = {}
    for make in (update_rules.decaying_gd, update_rules.counting_gd):
        rule, x = make(1.0), np.zeros(2)
        state = rule.init(x)
        for g in gradients:
            x, state = rule.update(x, g, state)
        ends[make] = x
    common = -(1 + 2**-0.5 + 3**-0.5)
    assert ends[update_rules.decaying_gd] == pytest.approx([common, -(3**-0.5)])
    assert ends[update_rules.counting_gd] == pytest.approx([common, -1]), "seen for the first time"


def test_first_step_of_adam_with_and_without_bias_correction():
    for correct, step in ((True, 1.0), (False, 0.1 / 0.001**0.5)):
        rule = update_rules.adam(0.01, eps=0.0, correct=correct)
        x, _ = rule.update(0.0, 5.0, rule.init(0.0))
        assert x == pytest.approx(-0.01 * step)


def test_adam_without_momentum_and_correction_is_rmsprop():
    """With bias correction, step t is RMSProp's times the root of 1 - decay ** t."""
    gradients = np.random.default_rng(0).normal(size=(20, 3))
    for decay in (0.9, 0.999):
        rmsprop = update_rules.rmsprop(0.01, decay, eps=0.0)
        steps = steps_of(rmsprop, gradients)
        without = update_rules.adam(0.01, 0.0, decay, eps=0.0, correct=False)
        assert steps_of(without, gradients) == pytest.approx(steps, rel=1e-12)
        share = 1 - decay ** np.arange(1, 21)[:, None]
        corrected = steps_of(update_rules.adam(0.01, 0.0, decay, eps=0.0), gradients)
        assert corrected == pytest.approx(steps * share**0.5)


def test_averages_start_from_the_first_gradient():
    """The first step is the learning rate; an average of constant gradients is the gradient."""
    gradients = np.repeat([[5.0, -2.0, 1e-3]], 10, axis=0)
    steps = steps_of(update_rules.adam_from_first_gradient(0.01, eps=0.0), gradients)
    assert steps == pytest.approx(-0.01 * np.sign(gradients))
    alternating = steps_of(
        update_rules.adam_from_first_gradient(1.0, 0.9, 0.99, eps=0.0), np.array([[1.0], [2.0]])
    )
    assert alternating[1] == pytest.approx(-(0.9 + 0.2) / (0.99 + 0.04) ** 0.5)


@pytest.mark.parametrize("rule", EVERY_RULE.values(), ids=EVERY_RULE)
def test_rule_changes_nothing_in_place(rule):
    x, g = np.ones(3), np.full(3, 0.5)
    state = rule.init(x)
    before = [np.copy(part) for part in state]
    rule.update(x, g, state)
    assert (x == 1).all()
    assert (g == 0.5).all()
    assert all(np.array_equal(a, b) for a, b in zip(state, before, strict=True))


@pytest.mark.parametrize("name", [name for name in MAKERS if name != "lars"])
def test_an_array_of_rates_steps_as_each_rate_would(name):
    """Except for LARS, which treats a whole array as one layer."""
    make = MAKERS[name]

    def end(lr, start):
        return update_rules.trace(make(lr), lambda x: 0.3 * x, start, 10)[-1]

    rates = np.array([0.01, 0.1, 1.0])
    assert end(rates, np.ones(3)) == pytest.approx([end(float(lr), 1.0) for lr in rates], rel=1e-12)


@given(st.floats(0.01, 1.9), st.floats(0.1, 1))
def test_descent_on_a_parabola_is_a_power(curvature, lr):
    path = update_rules.trace(update_rules.gd(lr), lambda x: curvature * x, 1.0, 15)
    assert path[-1] == pytest.approx((1 - lr * curvature) ** 15, rel=1e-9, abs=1e-12)


def test_second_moment_of_yogi_moves_by_a_bounded_amount():
    rule = update_rules.yogi(0.01, beta2=0.9)
    state = rule.init(0.0)
    for g, s in ((2.0, 0.4), (2.0, 0.8), (0.1, 0.8 - 0.1 * 0.01), (0.0, 0.8 - 0.1 * 0.01)):
        _, state = rule.update(0.0, g, state)
        assert state[1] == pytest.approx(s)


def test_epsilon_is_added_inside_or_outside_the_root():
    g, eps = 0.002, 1e-6
    for make in (update_rules.adagrad, update_rules.adam):
        inside, _ = make(0.1, eps=eps, inside=True).update(0.0, g, make(0.1).init(0.0))
        beside, _ = make(0.1, eps=eps, inside=False).update(0.0, g, make(0.1).init(0.0))
        assert inside == pytest.approx(-0.1 * g / math.sqrt(g * g + eps))
        assert beside == pytest.approx(-0.1 * g / (g + eps))


def test_lars_ignores_the_scale_of_the_gradient():
    rule = update_rules.lars(2.0, beta=0.0, trust=0.01)
    x, g = np.array([3.0, 4.0]), np.array([0.6, -0.8])
    for scale in (1e-3, 1.0, 1e3):
        after, _ = rule.update(x, scale * g, rule.init(x))
        assert after == pytest.approx(x - 2.0 * 0.01 * 5.0 * g), "5 is the length of x"


@pytest.mark.parametrize(
    ("x", "g", "step"),
    [([0.0, 0.0], [3.0, -4.0], [-0.06, 0.08]), ([3.0, 4.0], [0.0, 0.0], [-0.03, -0.04])],
    ids=["a bias at its start", "no gradient"],
)
def test_lars_does_not_scale_by_norms_if_one_is_0(x, g, step):
    rule = update_rules.lars(2.0, trust=0.01, weight_decay=0.5)
    for kind in (np.array, torch.tensor):
        after, _ = rule.update(kind(x), kind(g), rule.init(kind(x)))
        assert np.asarray(after) - x == pytest.approx(step)


def test_lars_with_momentum_and_weight_decay():
    rule = update_rules.lars(0.5, beta=0.9, trust=0.1, weight_decay=0.2)
    x, v = torch.tensor([1.0, 2.0, 2.0]), torch.zeros(3)
    state = rule.init(x)
    expected = x.clone()
    for g in (torch.tensor([1.0, 0.0, 0.0]), torch.tensor([0.0, 4.0, 3.0])):
        rate = 0.5 * 0.1 * expected.norm() / (g.norm() + 0.2 * expected.norm())
        v = 0.9 * v + rate * (g + 0.2 * expected)
        expected = expected - v
        x, state = rule.update(x, g, state)
        torch.testing.assert_close(x, expected)


@pytest.mark.parametrize("name", EVERY_RULE)
def test_a_step_keeps_the_shapes_and_types_of_a_state(name):
    """So that a step can write the next state over the last one in place."""
    x = torch.ones(2, 3)
    state = EVERY_RULE[name].init(x)
    after, new = EVERY_RULE[name].update(x, torch.full_like(x, 0.5), state)
    assert (after.shape, after.dtype) == (x.shape, x.dtype)
    assert type(new) is type(state)
    for part, following in zip(state, new, strict=True):
        assert not part.any(), "it begins at 0"
        assert (part.shape, part.dtype) == (following.shape, following.dtype)
