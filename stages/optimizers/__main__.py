"""Run the stage: `python -m stages.optimizers`."""

import sys
from collections.abc import Callable, Iterator

import numpy as np

from lab.core.exit_codes import run
from lab.core.files import REPORTS, write_metrics, write_rows
from lab.core.params import load
from lab.data.datasets import Split, dataset_name, read_airfoil, read_fashion_mnist, read_source
from lab.machine.devices import resolve
from lab.optim import objectives, update_rules
from lab.optim.update_rules import Rule
from lab.results.curves import Curve, key, line, rows_of
from lab.results.stats import summarise as summary
from lab.training.short_training import accuracy_after
from stages.optimizers import airfoil, quadratics
from stages.optimizers.params import OptimizerParams, Params
from stages.optimizers.regression import Problem, problem

LENET_RATES: dict[str, tuple[Callable[[float], Rule], tuple[float, ...]]] = {
    "SGD": (update_rules.gd, (0.03, 0.1, 0.3)),
    "momentum 0.9": (lambda lr: update_rules.momentum(lr, 0.9), (0.003, 0.01, 0.03)),
    "AdaGrad": (update_rules.adagrad, (0.003, 0.01, 0.03)),
    "RMSProp": (update_rules.rmsprop, (0.0003, 0.001, 0.003)),
    "Adam": (update_rules.adam, (0.0003, 0.001, 0.003)),
    "Yogi": (update_rules.yogi, (0.001, 0.003, 0.01)),
}


def lenet(params: OptimizerParams, train: Split, test: Split, seed: int) -> Iterator[Curve]:
    """Yield LeNet's test accuracy after a short budget against the rate, for each rule."""
    for name, (make_rule, rates) in LENET_RATES.items():
        accuracies = [
            accuracy_after(
                make_rule(lr), train, test, params.lenet_steps, params.lenet_batch_size, seed
            )
            for lr in rates
        ]
        yield line("lenet", name, rates, accuracies)


def measure(
    params: OptimizerParams, table: Problem, train: Split, test: Split, seed: int
) -> list[Curve]:
    """Return the curves of all demos."""
    return [
        *quadratics.traces(),
        *quadratics.starts(params.num_starts),
        *quadratics.decays(),
        *quadratics.stability(),
        *airfoil.notes_runs(table, params.num_seeds, seed),
        airfoil.adagrad_growth(table, seed),
        *airfoil.sweep("airfoil", table, params.num_seeds, params.num_rates, seed),
        *airfoil.sweep(
            "ill", airfoil.ill_conditioned(seed), params.num_seeds, params.num_rates, seed
        ),
        *airfoil.sweep("sparse", airfoil.sparse(seed), params.num_seeds, params.num_rates, seed),
        *lenet(params, train, test, seed),
    ]


def summarise(curves: list[Curve], table: Problem) -> dict[str, float | str]:
    """Return the demos in few numbers: final points, the boundary, losses of the notes' runs, best
    rates.
    """
    by_name = {(c.demo, c.series): c for c in curves}
    metrics: dict[str, float | str] = {}
    for name in quadratics.TRACES:
        c = by_name["trace", name]
        metrics[f"trace_{key(name)}_x1"] = round(float(c.x[-1]), 6)
        metrics[f"trace_{key(name)}_x2"] = round(float(c.y[-1]), 6)
    for turned in (0, 45):
        gd, adagrad = (
            by_name[f"start_turned_{turned}", n].y for n in ("GD, rate 0.4", "AdaGrad, rate 2")
        )
        metrics[f"starts_where_adagrad_2_ends_lower_percent_turned_{turned}"] = round(
            100 * float((adagrad < gd).mean()), 2
        )
    ends = by_name["start_turned_0", "AdaGrad, rate 2"].y
    book_start = by_name["trace", "AdaGrad, rate 2"]
    book_end = objectives.quadratic(
        np.array([book_start.x[-1], book_start.y[-1]]), quadratics.EIGENVALUES
    )
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
                metrics[f"{demo}_best_{key(c.series.split(',')[0])}_excess"] = float(
                    f"{c.y[-1]:.5g}"
                )
    growth_ = by_name["adagrad_growth", "sum of squared gradients"]
    late = growth_.x > 300
    exponent = np.polyfit(np.log(growth_.x[late]), np.log(growth_.y[late]), 1)[0]
    metrics["adagrad_growth_exponent"] = round(float(exponent), 4)
    for name in LENET_RATES:
        metrics[f"lenet_{key(name)}_accuracy_percent"] = round(
            100 * float(by_name["lenet", name].y.max()), 2
        )
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
    for name, samples in airfoil.step_times(
        table, params.optimizers.timing_runs, params.seed
    ).items():
        step = summary(samples)
        metrics |= {
            f"{key(name)}_step_us": round(step.median, 3),
            f"{key(name)}_step_us_iqr": round(step.iqr, 3),
        }
    write_rows(REPORTS / "optimizers", rows_of(curves))
    write_metrics(REPORTS / "optimizers", metrics)


if __name__ == "__main__":
    sys.exit(run(main))
