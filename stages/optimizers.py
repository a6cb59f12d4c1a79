"""Which update rule is better, and when does the ranking mean something? Traces, stability, regression, LeNet.

The notes' traces on 0.1 x1² + 2 x2² with their rates, then the same from many starts and turned by 45 degrees;
the measured stability of momentum against the closed form 0 < lr lambda < 2 + 2 beta; the notes' airfoil runs
against the exact optimum over many seeds, a sweep of rates for every rule, two problems on which the rules do
differ, and LeNet for a short budget.

Read `reports/optimizers/rows.csv`: per demo and series, points (x, y) with the band of the middle half of the
seeds. Book: 12.3 to 12.10.
"""

import sys
from collections.abc import Callable, Iterator
from typing import Annotated

import numpy as np
from pydantic import Field

from lab import airfoil, objectives, quadratics, rules
from lab.curves import Curve, key, line, rows_of
from lab.data import Split, dataset_name, read_airfoil, read_fashion_mnist, read_source
from lab.devices import DeviceParams, resolve
from lab.params import Section, Seed, load
from lab.records import REPORTS, write_metrics, write_rows
from lab.regression import Problem, problem
from lab.rules import Rule
from lab.runner import run
from lab.short_training import accuracy_after
from lab.stats import summarise as summary


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


LENET_RATES: dict[str, tuple[Callable[[float], Rule], tuple[float, ...]]] = {
    "SGD": (rules.gd, (0.03, 0.1, 0.3)),
    "momentum 0.9": (lambda lr: rules.momentum(lr, 0.9), (0.003, 0.01, 0.03)),
    "AdaGrad": (rules.adagrad, (0.003, 0.01, 0.03)),
    "RMSProp": (rules.rmsprop, (0.0003, 0.001, 0.003)),
    "Adam": (rules.adam, (0.0003, 0.001, 0.003)),
    "Yogi": (rules.yogi, (0.001, 0.003, 0.01)),
}


def lenet(params: OptimizerParams, train: Split, test: Split, seed: int) -> Iterator[Curve]:
    """Yield LeNet's test accuracy after a short budget against the rate, for each rule."""
    for name, (make_rule, rates) in LENET_RATES.items():
        accuracies = [
            accuracy_after(make_rule(lr), train, test, params.lenet_steps, params.lenet_batch_size, seed)
            for lr in rates
        ]
        yield line("lenet", name, rates, accuracies)


def measure(params: OptimizerParams, table: Problem, train: Split, test: Split, seed: int) -> list[Curve]:
    """Return the curves of all demos."""
    return [
        *quadratics.traces(),
        *quadratics.starts(params.num_starts),
        *quadratics.decays(),
        *quadratics.stability(),
        *airfoil.notes_runs(table, params.num_seeds, seed),
        airfoil.adagrad_growth(table, seed),
        *airfoil.sweep("airfoil", table, params.num_seeds, params.num_rates, seed),
        *airfoil.sweep("ill", airfoil.ill_conditioned(seed), params.num_seeds, params.num_rates, seed),
        *airfoil.sweep("sparse", airfoil.sparse(seed), params.num_seeds, params.num_rates, seed),
        *lenet(params, train, test, seed),
    ]


def summarise(curves: list[Curve], table: Problem) -> dict[str, float | str]:
    """Return the demos in few numbers: final points, the boundary, losses of the notes' runs, best rates."""
    by_name = {(c.demo, c.series): c for c in curves}
    metrics: dict[str, float | str] = {}
    for name in quadratics.TRACES:
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
    book_end = objectives.quadratic(np.array([book_start.x[-1], book_start.y[-1]]), quadratics.EIGENVALUES)
    metrics["adagrad_2_starts_that_end_lower_than_the_books_percent"] = round(
        100 * float((ends < book_end).mean()), 2
    )
    measured, bound = (by_name["stability_boundary", n].y for n in ("measured", "2 + 2β"))
    metrics["stability_boundary_max_error"] = round(float(np.abs(measured - bound).max()), 6)
    metrics["airfoil_minimum"] = round(table.minimum, 6)
    metrics["airfoil_rate_bound"] = round(float(2 / np.linalg.eigvalsh(table.hessian)[-1]), 6)
    for name in airfoil.NOTES_RUNS:
        c = by_name["airfoil", name]
        metrics[f"airfoil_{key(name)}_loss"] = (
            round(table.minimum + float(c.y[-1]), 6) if np.isfinite(c.y[-1]) else "diverged"
        )
    for demo in ("airfoil", "ill", "sparse"):
        for c in curves:
            if c.demo == f"{demo}_best":
                metrics[f"{demo}_best_{key(c.series.split(',')[0])}_excess"] = float(f"{c.y[-1]:.5g}")
    growth_ = by_name["adagrad_growth", "sum of squared gradients"]
    late = growth_.x > 300
    exponent = np.polyfit(np.log(growth_.x[late]), np.log(growth_.y[late]), 1)[0]
    metrics["adagrad_growth_exponent"] = round(float(exponent), 4)
    for name in LENET_RATES:
        metrics[f"lenet_{key(name)}_accuracy_percent"] = round(100 * float(by_name["lenet", name].y.max()), 2)
    return metrics


def main() -> None:
    """Measure all demos and write rows and metrics."""
    params = load(Params)
    resolve(1, params.devices)
    source, table = read_source(), problem(*objectives.standardise(read_airfoil()))
    train, test = read_fashion_mnist("train"), read_fashion_mnist("t10k").first(2000)
    curves = measure(params.optimizers, table, train, test, params.seed)
    metrics: dict[str, float | str] = {"dataset": dataset_name(), "airfoil": source["airfoil"]}
    metrics |= summarise(curves, table)
    for name, samples in airfoil.step_times(table, params.optimizers.timing_runs, params.seed).items():
        step = summary(samples)
        metrics |= {f"{key(name)}_step_us": round(step.median, 3), f"{key(name)}_step_us_iqr": round(step.iqr, 3)}
    write_rows(REPORTS / "optimizers", rows_of(curves))
    write_metrics(REPORTS / "optimizers", metrics)


if __name__ == "__main__":
    sys.exit(run(main))
