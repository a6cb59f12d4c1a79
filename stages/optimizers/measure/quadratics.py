"""Update rules on quadratics (12.3, 12.6, 12.7): traces, starts and stability."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from lab.optim import objectives, update_rules
from lab.optim.objectives import Array
from lab.optim.update_rules import UpdateRule
from lab.results.measurements import Measurement, line

EIGENVALUES = np.array([0.1, 2.0])
START = np.array([-5.0, -2.0])
TRACE_STEPS = 20
BETAS = np.linspace(0, 0.95, 20)

TRACES: dict[tuple[str, float], UpdateRule] = {
    ("GD", 0.4): update_rules.gd(0.4),
    ("GD", 0.6): update_rules.gd(0.6),
    ("momentum 0.5", 0.6): update_rules.momentum(0.6, 0.5),
    ("momentum 0.25", 0.6): update_rules.momentum(0.6, 0.25),
    ("AdaGrad", 0.4): update_rules.adagrad(0.4),
    ("AdaGrad", 2.0): update_rules.adagrad(2.0),
    ("RMSProp", 0.4): update_rules.rmsprop(0.4),
    ("Adam", 0.4): update_rules.adam(0.4),
}


def traces() -> Iterator[Measurement]:
    """Yield the notes' 20-step traces: x1 and x2 against the step."""
    for (name, rate), rule in TRACES.items():
        with np.errstate(over="ignore"):
            path = np.array(descend_quadratic(rule, START))
        steps = np.arange(len(path))
        for i, coordinate in enumerate(("x1", "x2")):
            yield from line("trace", name, steps, path[:, i], rate=rate, coordinate=coordinate)


def starts(num_starts: int) -> Iterator[Measurement]:
    """Yield the value after 20 steps against the direction of the start, at the notes' distance.

    The quadratic's axes are the coordinate axes, or rotated by 45 degrees.
    """
    degrees = np.linspace(0, 360, num_starts, endpoint=False)
    directions = np.stack([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
    points = np.linalg.norm(START) * directions
    for turned in (0, 45):
        angle = np.radians(turned)
        for name, rate in (("GD", 0.4), ("AdaGrad", 0.4), ("AdaGrad", 2.0)):
            end = descend_quadratic(TRACES[name, rate], points, angle)[-1]
            values = np.maximum(objectives.quadratic(end, EIGENVALUES, angle), 1e-16)
            yield from line("starts", name, degrees, values, rate=rate, turned=turned)


def descend_quadratic(rule: UpdateRule, x: Array, angle: float = 0.0) -> list[Array]:
    """Return positions (2, ...) of 20 steps on 0.1 x1^2 + 2 x2^2, rotated by `angle` radians."""
    gradient = partial(objectives.quadratic_gradient, eigenvalues=EIGENVALUES, angle=angle)
    return update_rules.trace(rule, gradient, x, TRACE_STEPS)


def stability() -> Iterator[Measurement]:
    """Yield measured growth per step against lr lambda for each beta, and where it exceeds 1."""
    curvatures = np.linspace(0.05, 4, 80)
    for beta, row in zip(BETAS, growth(BETAS[:, None], curvatures[None, :]), strict=True):
        yield from line("stability", "momentum", curvatures, row, beta=round(float(beta), 2))
    low, high = np.full(len(BETAS), 1.0), np.full(len(BETAS), 5.0)
    for _ in range(30):
        middle = (low + high) / 2
        unstable = growth(BETAS, middle) > 1
        low, high = np.where(unstable, low, middle), np.where(unstable, middle, high)
    yield from line("stability_boundary", "measured", BETAS, (low + high) / 2)
    yield from line("stability_boundary", "2 + 2β", BETAS, 2 + 2 * BETAS)


def growth(beta: Array, curvature: Array, num_steps: int = 600) -> Array:
    """Measure the factor per step by which momentum grows or shrinks at lr lambda = `curvature`.

    Both arrays broadcast. The system is linear, so position and velocity are normalized together
    after each step.
    """
    rule = update_rules.momentum(1.0, beta)
    x, v = np.broadcast_arrays(np.ones_like(curvature + beta), 0.3 * np.ones_like(curvature + beta))
    log_growth = np.zeros_like(x)
    for step in range(num_steps):
        x, (v,) = rule.update(x, curvature * x, (v,))
        norm = np.sqrt(x * x + v * v) + 1e-300
        x, v = x / norm, v / norm
        if step >= num_steps // 2:
            log_growth = log_growth + np.log(norm)
    return np.exp(log_growth / (num_steps - num_steps // 2))
