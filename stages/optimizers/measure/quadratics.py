"""Update rules on quadratics (12.3, 12.6, 12.7): traces, starts, decay and stability."""

import operator
from collections.abc import Iterator
from functools import partial

import numpy as np

from lab.optim import objectives, update_rules
from lab.optim.objectives import Array
from lab.optim.update_rules import UpdateRule
from lab.results.curves import Curve, line
from stages.optimizers.measure import names

EIGENVALUES = np.array([0.1, 2.0])
START = np.array([-5.0, -2.0])
TRACE_STEPS = 20
BETAS = np.linspace(0, 0.95, 20)

TRACES: dict[str, UpdateRule] = {
    names.GD_04: update_rules.gd(0.4),
    names.GD_06: update_rules.gd(0.6),
    names.MOMENTUM_05_06: update_rules.momentum(0.6, 0.5),
    names.MOMENTUM_025_06: update_rules.momentum(0.6, 0.25),
    names.ADAGRAD_04: update_rules.adagrad(0.4),
    names.ADAGRAD_2: update_rules.adagrad(2.0),
    names.RMSPROP_04: update_rules.rmsprop(0.4),
    names.ADAM_04: update_rules.adam(0.4),
}


def traces() -> Iterator[Curve]:
    """The notes' 20-step traces: x2 against x1."""
    for name, rule in TRACES.items():
        with np.errstate(over="ignore"):
            path = np.array(
                update_rules.trace(
                    rule,
                    partial(objectives.quadratic_gradient, eigenvalues=EIGENVALUES),
                    START,
                    TRACE_STEPS,
                )
            )
        yield line(names.TRACE, name, path[:, 0], path[:, 1])


def starts(num_starts: int) -> Iterator[Curve]:
    """The value after 20 steps against the direction of the start, at the notes' distance.

    The quadratic's axes are the coordinates', or turned by 45 degrees.
    """
    angles = np.linspace(0, 360, num_starts, endpoint=False)
    points = np.linalg.norm(START) * np.stack(
        [np.cos(np.radians(angles)), np.sin(np.radians(angles))]
    )
    for degrees, experiment in names.STARTS.items():
        turn = np.radians(degrees)
        for name in (names.GD_04, names.ADAGRAD_04, names.ADAGRAD_2):
            end = update_rules.trace(
                TRACES[name],
                partial(objectives.quadratic_gradient, eigenvalues=EIGENVALUES, angle=turn),
                points,
                TRACE_STEPS,
            )[-1]
            values = objectives.quadratic(end, EIGENVALUES, turn)
            yield line(experiment, name, angles, np.maximum(values, 1e-16))


def decays() -> Iterator[Curve]:
    """(1 - lr lambda)^t of gradient descent at rate 0.1 for the book's four curvatures (12.6.4)."""
    for eigenvalue in (0.1, 1.0, 10.0, 19.0):
        path = update_rules.trace(
            update_rules.gd(0.1), partial(operator.mul, eigenvalue), 1.0, TRACE_STEPS
        )
        yield line(names.DECAY, f"λ = {eigenvalue:g}", np.arange(len(path)), path)


def growth(beta: Array, curvature: Array, num_steps: int = 600) -> Array:
    """The measured factor per step by which momentum grows or shrinks at lr lambda = `curvature`.

    Both arrays broadcast. The system is linear, so position and velocity are scaled back together
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


def stability() -> Iterator[Curve]:
    """The measured growth per step over lr lambda for each beta, and where it passes 1."""
    curvatures = np.linspace(0.05, 4, 80)
    map_ = growth(BETAS[:, None], curvatures[None, :])
    for beta, row in zip(BETAS, map_, strict=True):
        yield line(names.STABILITY, f"{beta:.2f}", curvatures, row)
    low, high = np.full(len(BETAS), 1.0), np.full(len(BETAS), 5.0)
    for _ in range(30):
        middle = (low + high) / 2
        unstable = growth(BETAS, middle) > 1
        low, high = np.where(unstable, low, middle), np.where(unstable, middle, high)
    yield line(names.BOUNDARY, names.MEASURED, BETAS, (low + high) / 2)
    yield line(names.BOUNDARY, names.BOUND, BETAS, 2 + 2 * BETAS)
