"""Which update rule is better, and when does the ranking mean something? Traces, stability, regression, LeNet.

The notes' traces on 0.1 x1² + 2 x2² with their rates, then the same from many starts and turned by 45 degrees;
the measured stability of momentum against the closed form 0 < lr lambda < 2 + 2 beta; the notes' airfoil runs
against the exact optimum over many seeds, a sweep of rates for every rule, two problems on which the rules do
differ, and LeNet for a short budget.

Read `reports/optimizers/rows.csv`: per demo and series, points (x, y) with the band of the middle half of the
seeds. Book: 12.3 to 12.10.
"""

import operator
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from lab import objectives, rules
from lab.curves import Curve, curve, key, line, rows_of
from lab.data import Split, dataset_name, read_airfoil, read_fashion_mnist, read_source
from lab.devices import DeviceParams, resolve
from lab.params import Section, Seed, load
from lab.records import REPORTS, write_metrics, write_rows
from lab.regression import Problem, descend, initial, problem
from lab.rules import Rule
from lab.runner import run
from lab.short_training import accuracy_after
from lab.stats import summarise as summary

Array = NDArray[np.float64]
EIGENVALUES = np.array([0.1, 2.0])
START = np.array([-5.0, -2.0])
TRACE_STEPS = 20
BETAS = np.linspace(0, 0.95, 20)


class OptimizerParams(Section):
    """The `optimizers` section of params.yaml."""

    num_seeds: Annotated[int, Field(ge=2, le=1000)]
    num_rates: Annotated[int, Field(ge=3, le=200)]
    num_starts: Annotated[int, Field(ge=8, le=3600)]
    lenet_steps: Annotated[int, Field(ge=1, le=100_000)]
    lenet_batch_size: Annotated[int, Field(ge=1, le=10_000)]
    timing_runs: Annotated[int, Field(ge=5, le=1000)]


class Params(Section):
    """What `optimizers` reads of params.yaml."""

    seed: Seed
    devices: DeviceParams
    optimizers: OptimizerParams


TRACES: dict[str, Rule] = {
    "GD, rate 0.4": rules.gd(0.4),
    "GD, rate 0.6": rules.gd(0.6),
    "momentum 0.5, rate 0.6": rules.momentum(0.6, 0.5),
    "momentum 0.25, rate 0.6": rules.momentum(0.6, 0.25),
    "AdaGrad, rate 0.4": rules.adagrad(0.4),
    "AdaGrad, rate 2": rules.adagrad(2.0),
    "RMSProp, rate 0.4": rules.rmsprop(0.4),
    "Adam, rate 0.4": rules.adam(0.4),
}


class Run(NamedTuple):
    """One of the notes' airfoil runs; `published` is the final loss that a port of the book prints, if one does."""

    make_rule: Callable[[Array], Rule]
    rate: float
    batch_size: int = 10
    num_epochs: int = 2
    published: float | None = None


NOTES_RUNS: dict[str, Run] = {
    "GD, rate 1": Run(rules.gd, 1.0, batch_size=1500, num_epochs=10),
    "SGD, batch 1, rate 0.005": Run(rules.gd, 0.005, batch_size=1, num_epochs=1),
    "SGD, batch 100, rate 0.4": Run(rules.gd, 0.4, batch_size=100),
    "SGD, batch 10, rate 0.05": Run(rules.gd, 0.05),
    "momentum 0.5, rate 0.02": Run(lambda lr: rules.momentum(lr, 0.5), 0.02, published=0.2455),
    "momentum 0.9, rate 0.01": Run(lambda lr: rules.momentum(lr, 0.9), 0.01),
    "momentum 0.9, rate 0.005": Run(lambda lr: rules.momentum(lr, 0.9), 0.005),
    "AdaGrad, rate 0.1": Run(rules.adagrad, 0.1, published=0.2437),
    "RMSProp, rate 0.01": Run(rules.rmsprop, 0.01),
    "Adadelta, rho 0.9": Run(lambda lr: rules.adadelta(lr=lr), 1.0),
    "Adam, rate 0.01": Run(rules.adam, 0.01, published=0.2454),
    "Yogi, rate 0.01": Run(rules.yogi, 0.01),
}

SWEPT: dict[str, Callable[[Array], Rule]] = {
    "SGD": rules.gd,
    "momentum 0.9": lambda lr: rules.momentum(lr, 0.9),
    "Nesterov 0.9": lambda lr: rules.nesterov(lr, 0.9),
    "AdaGrad": rules.adagrad,
    "RMSProp": rules.rmsprop,
    "Adadelta": lambda lr: rules.adadelta(lr=lr),
    "Adam": rules.adam,
    "AdamW": rules.adamw,
    "Yogi": rules.yogi,
}

LENET_RATES: dict[str, tuple[Callable[[float], Rule], tuple[float, ...]]] = {
    "SGD": (rules.gd, (0.03, 0.1, 0.3)),
    "momentum 0.9": (lambda lr: rules.momentum(lr, 0.9), (0.003, 0.01, 0.03)),
    "AdaGrad": (rules.adagrad, (0.003, 0.01, 0.03)),
    "RMSProp": (rules.rmsprop, (0.0003, 0.001, 0.003)),
    "Adam": (rules.adam, (0.0003, 0.001, 0.003)),
    "Yogi": (rules.yogi, (0.001, 0.003, 0.01)),
}


# --- two dimensions -------------------------------------------------------------------------------------------


def traces() -> Iterator[Curve]:
    """Yield the notes' 20-step traces: x1 against x2."""
    for name, rule in TRACES.items():
        with np.errstate(over="ignore"):
            path = np.array(
                rules.trace(
                    rule, partial(objectives.quadratic_gradient, eigenvalues=EIGENVALUES), START, TRACE_STEPS
                )
            )
        yield line("trace", name, path[:, 0], path[:, 1])


def starts(num_starts: int) -> Iterator[Curve]:
    """Yield the value after 20 steps against the direction of the start, at the notes' distance from the minimum.

    The quadratic stands on its axes, and turned by 45 degrees.
    """
    angles = np.linspace(0, 360, num_starts, endpoint=False)
    radius = np.linalg.norm(START)
    for turned in (0, 45):
        points = radius * np.stack([np.cos(np.radians(angles)), np.sin(np.radians(angles))])
        for name in ("GD, rate 0.4", "AdaGrad, rate 0.4", "AdaGrad, rate 2"):
            turn = np.radians(turned)
            end = rules.trace(
                TRACES[name],
                partial(objectives.quadratic_gradient, eigenvalues=EIGENVALUES, angle=turn),
                points,
                TRACE_STEPS,
            )[-1]
            values = objectives.quadratic(end, EIGENVALUES, turn)
            yield line(f"start_turned_{turned}", name, angles, np.maximum(values, 1e-16))


def decays() -> Iterator[Curve]:
    """Yield (1 - lr lambda)^t of gradient descent at rate 0.1 for the book's four curvatures (12.6.4)."""
    for eigenvalue in (0.1, 1.0, 10.0, 19.0):
        path = rules.trace(rules.gd(0.1), partial(operator.mul, eigenvalue), 1.0, TRACE_STEPS)
        yield line("decay", f"λ = {eigenvalue:g}", np.arange(len(path)), path)


def growth(beta: Array, curvature: Array, num_steps: int = 600) -> Array:
    """Return the measured factor per step by which momentum grows or shrinks on lr lambda = `curvature`.

    Both arrays broadcast. The system is linear, so position and velocity are scaled back together after each step.
    """
    rule = rules.momentum(1.0, beta)
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
    """Yield the measured growth per step over lr lambda for each beta, and where it passes 1."""
    curvatures = np.linspace(0.05, 4, 80)
    map_ = growth(BETAS[:, None], curvatures[None, :])
    for beta, row in zip(BETAS, map_, strict=True):
        yield line("stability", f"{beta:.2f}", curvatures, row)
    low, high = np.full(len(BETAS), 1.0), np.full(len(BETAS), 5.0)
    for _ in range(30):
        middle = (low + high) / 2
        unstable = growth(BETAS, middle) > 1
        low, high = np.where(unstable, low, middle), np.where(unstable, middle, high)
    yield line("stability_boundary", "measured", BETAS, (low + high) / 2)
    yield line("stability_boundary", "2 + 2β", BETAS, 2 + 2 * BETAS)


# --- regression -----------------------------------------------------------------------------------------------


def airfoil_runs(task: Problem, num_seeds: int, seed: int) -> Iterator[Curve]:
    """Yield the notes' runs: the excess over the minimum against epochs, over seeds."""
    w = initial(num_seeds, task.X.shape[1], seed)
    for name, arm in NOTES_RUNS.items():
        per_epoch = len(task.X) // arm.batch_size
        result = descend(
            arm.make_rule,
            np.array([arm.rate]),
            task,
            w,
            arm.batch_size,
            arm.num_epochs * per_epoch,
            max(1, per_epoch // 8),
            seed,
        )
        yield curve("airfoil", name, result.steps / per_epoch, list(result.excess[:, 0]))


def sweep(demo: str, task: Problem, params: OptimizerParams, seed: int, num_steps: int) -> Iterator[Curve]:
    """Yield for every rule the final excess against the rate, and the descent at the rate that ends lowest."""
    rates = np.logspace(-4, 1, params.num_rates)
    w = initial(params.num_seeds, task.X.shape[1], seed)
    for name, make_rule in SWEPT.items():
        result = descend(make_rule, rates, task, w, 10, num_steps, max(1, num_steps // 30), seed)
        final = result.excess[-1]
        yield curve(f"{demo}_rates", name, rates, list(final), list(result.diverged_step))
        typical = np.array([np.median(each) if np.isfinite(each).all() else np.inf for each in final])
        best = int(np.argmin(typical))
        yield curve(f"{demo}_best", f"{name}, rate {rates[best]:.2g}", result.steps, list(result.excess[:, best]))


def ill_conditioned(params: OptimizerParams, seed: int) -> Problem:
    """Return a regression whose Hessian is diagonal with eigenvalues from 1 to 1e-3."""
    rng = np.random.default_rng(seed)
    scales = np.logspace(0, -1.5, 20)
    X = np.linalg.qr(rng.normal(size=(1500, 20)))[0] * np.sqrt(1500) * scales
    return problem(X, X @ (rng.normal(size=20) / scales) + 0.1 * rng.normal(size=1500))


def sparse(params: OptimizerParams, seed: int) -> Problem:
    """Return a regression on rare features: feature j is 1 in a share 1 / (j + 1) of the rows, else 0."""
    rng = np.random.default_rng(seed)
    X = (rng.random((1500, 60)) < 1 / np.arange(1, 61)).astype(float)
    return problem(X, X @ rng.normal(size=60) + 0.1 * rng.normal(size=1500))


def step_times(task: Problem, num_runs: int, seed: int) -> dict[str, list[float]]:
    """Return microseconds per step of each rule on one airfoil run of two epochs, in alternating order."""
    w = initial(1, task.X.shape[1], seed)
    times: dict[str, list[float]] = {name: [] for name in SWEPT}
    for round_ in range(num_runs + 1):
        for name in list(SWEPT)[:: 1 if round_ % 2 else -1]:
            start = time.perf_counter()
            descend(SWEPT[name], np.array([0.01]), task, w, 10, 300, 300, seed)
            times[name].append((time.perf_counter() - start) / 300 * 1e6)
    return {name: samples[1:] for name, samples in times.items()}  # the first round warms up


# --- LeNet ----------------------------------------------------------------------------------------------------


def lenet(params: OptimizerParams, train: Split, test: Split, seed: int) -> Iterator[Curve]:
    """Yield LeNet's test accuracy after a short budget against the rate, for each rule."""
    for name, (make_rule, rates) in LENET_RATES.items():
        accuracies = [
            accuracy_after(make_rule(lr), train, test, params.lenet_steps, params.lenet_batch_size, seed)
            for lr in rates
        ]
        yield line("lenet", name, rates, accuracies)


# --- the stage ------------------------------------------------------------------------------------------------


def measure(params: OptimizerParams, table: Array, train: Split, test: Split, seed: int) -> list[Curve]:
    """Return the curves of all demos."""
    airfoil = problem(*objectives.standardise(table))
    return [
        *traces(),
        *starts(params.num_starts),
        *decays(),
        *stability(),
        *airfoil_runs(airfoil, params.num_seeds, seed),
        *sweep("airfoil", airfoil, params, seed, 300),
        *sweep("ill", ill_conditioned(params, seed), params, seed, 300),
        *sweep("sparse", sparse(params, seed), params, seed, 300),
        *lenet(params, train, test, seed),
    ]


def summarise(curves: list[Curve], minimum: float, hessian: Array) -> dict[str, float | str]:
    """Return the demos in few numbers: final points, the boundary, losses of the notes' runs, best rates."""
    by_name = {(c.demo, c.series): c for c in curves}
    metrics: dict[str, float | str] = {}
    for name in TRACES:
        c = by_name["trace", name]
        metrics[f"trace_{key(name)}_x1"] = round(float(c.x[-1]), 6)
        metrics[f"trace_{key(name)}_x2"] = round(float(c.y[-1]), 6)
    for turned in (0, 45):
        gd, adagrad = (by_name[f"start_turned_{turned}", n].y for n in ("GD, rate 0.4", "AdaGrad, rate 2"))
        metrics[f"starts_where_adagrad_2_ends_lower_percent_turned_{turned}"] = round(
            100 * float((adagrad < gd).mean()), 2
        )
    ends = by_name["start_turned_0", "AdaGrad, rate 2"].y
    book_start = by_name["trace", "AdaGrad, rate 2"]
    book_end = objectives.quadratic(np.array([book_start.x[-1], book_start.y[-1]]), EIGENVALUES)
    metrics["adagrad_2_starts_that_end_lower_than_the_books_percent"] = round(
        100 * float((ends < book_end).mean()), 2
    )
    measured, bound = (by_name["stability_boundary", n].y for n in ("measured", "2 + 2β"))
    metrics["stability_boundary_max_error"] = round(float(np.abs(measured - bound).max()), 6)
    metrics["airfoil_minimum"] = round(minimum, 6)
    metrics["airfoil_rate_bound"] = round(float(2 / np.linalg.eigvalsh(hessian)[-1]), 6)
    for name in NOTES_RUNS:
        c = by_name["airfoil", name]
        metrics[f"airfoil_{key(name)}_loss"] = (
            round(minimum + float(c.y[-1]), 6) if np.isfinite(c.y[-1]) else "diverged"
        )
    for demo in ("airfoil", "ill", "sparse"):
        for c in curves:
            if c.demo == f"{demo}_best":
                metrics[f"{demo}_best_{key(c.series.split(',')[0])}_excess"] = float(f"{c.y[-1]:.5g}")
    for name in LENET_RATES:
        metrics[f"lenet_{key(name)}_accuracy_percent"] = round(100 * float(by_name["lenet", name].y.max()), 2)
    return metrics


def main() -> None:
    """Measure all demos and write rows and metrics."""
    params = load(Params)
    resolve(1, params.devices)
    source, table = read_source(), read_airfoil()
    train, test = read_fashion_mnist("train"), read_fashion_mnist("t10k").first(2000)
    curves = measure(params.optimizers, table, train, test, params.seed)
    airfoil = problem(*objectives.standardise(table))
    metrics: dict[str, float | str] = {"dataset": dataset_name(), "airfoil": source["airfoil"]}
    metrics |= summarise(curves, airfoil.minimum, airfoil.hessian)
    for name, samples in step_times(airfoil, params.optimizers.timing_runs, params.seed).items():
        step = summary(samples)
        metrics |= {f"{key(name)}_step_us": round(step.median, 3), f"{key(name)}_step_us_iqr": round(step.iqr, 3)}
    write_rows(REPORTS / "optimizers", rows_of(curves))
    write_metrics(REPORTS / "optimizers", metrics)


if __name__ == "__main__":
    sys.exit(run(main))
