"""Run the stage: `python -m stages.optimizers`."""

import sys
from collections.abc import Mapping, Sequence

import numpy as np

from lab.core.exit_codes import run
from lab.core.files import REPORTS, Metrics, write_metrics, write_rows
from lab.core.params import load
from lab.data.datasets import Split, dataset_name, read_airfoil, read_fashion_mnist, read_source
from lab.machine.devices import resolve
from lab.optim import objectives
from lab.results.curves import Curve, rows_of
from stages.optimizers import names, quadratics
from stages.optimizers.lenet_rates import lenet_accuracies
from stages.optimizers.linear_regression import Problem, ill_conditioned, problem, sparse
from stages.optimizers.notes_runs import adagrad_growth, notes_runs
from stages.optimizers.params import OptimizerParams, Params
from stages.optimizers.rate_sweeps import step_times, sweep

ByName = Mapping[tuple[str, str], Curve]  # by demo and series


def measure(
    params: OptimizerParams, table: Problem, train: Split, test: Split, seed: int
) -> list[Curve]:
    """The curves of all demos but the times; the same bits from the same seed."""
    problems = {names.AIRFOIL: table, names.ILL: ill_conditioned(seed), names.SPARSE: sparse(seed)}
    return [
        *quadratics.traces(),
        *quadratics.starts(params.num_starts),
        *quadratics.decays(),
        *quadratics.stability(),
        *notes_runs(table, params.num_seeds, seed),
        adagrad_growth(table, seed),
        *(
            c
            for name, task in problems.items()
            for c in sweep(name, task, params.num_seeds, params.num_rates, seed)
        ),
        *lenet_accuracies(train, test, params.lenet_steps, params.lenet_batch_size, seed),
    ]


def summarise(curves: Sequence[Curve], table: Problem) -> Metrics:
    """How AdaGrad fares from all directions, what is exact on the airfoil table, and its growth."""
    by_name = {(c.demo, c.series): c for c in curves}
    return {
        **{
            metric: _percent_where_adagrad_ends_lower(by_name, names.STARTS[turned])
            for turned, metric in names.ADAGRAD_LOWER_PERCENT.items()
        },
        names.AIRFOIL_MINIMUM: round(table.minimum, 6),
        names.AIRFOIL_RATE_BOUND: round(float(2 / np.linalg.eigvalsh(table.hessian)[-1]), 6),
        names.ADAGRAD_GROWTH_EXPONENT: _growth_exponent(by_name),
    }


def _percent_where_adagrad_ends_lower(by_name: ByName, demo: str) -> float:
    adagrad, gd = (by_name[demo, name].y for name in (names.ADAGRAD_2, names.GD_04))
    return round(100 * float((adagrad < gd).mean()), 2)


def _growth_exponent(by_name: ByName) -> float:
    """The slope of the logarithms after step 300, when the start is forgotten."""
    growth = by_name[names.ADAGRAD_GROWTH, names.SQUARES]
    late = growth.x > 300
    return round(float(np.polyfit(np.log(growth.x[late]), np.log(growth.y[late]), 1)[0]), 4)


def main() -> None:
    """Measure all demos and write rows and metrics."""
    params = load(Params)
    resolve(1, params.devices)
    table = problem(*objectives.standardise(read_airfoil()))
    train = read_fashion_mnist("train")
    test = read_fashion_mnist("t10k").first(params.optimizers.lenet_test_images)
    curves = measure(params.optimizers, table, train, test, params.seed)
    times = step_times(table, params.optimizers.timing_runs, params.seed)
    data = {"dataset": dataset_name(), "airfoil": read_source()["airfoil"]}
    write_rows(REPORTS / "optimizers", rows_of([*curves, *times]))
    write_metrics(REPORTS / "optimizers", {**data, **summarise(curves, table)})


if __name__ == "__main__":
    sys.exit(run(main))
