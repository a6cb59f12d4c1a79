"""Run the stage: `python -m stages.optimizers`."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from lab.core.files import REPORTS, Metrics, write_metrics, write_rows
from lab.core.params import load
from lab.core.process import run
from lab.data.datasets import Split, dataset_name, read_airfoil, read_fashion_mnist, read_source
from lab.machine.devices import processor, threads_per_device, usable_cores
from lab.machine.hardware import write_conditions
from lab.optim import objectives
from lab.results.curves import Curve, line, rows_of
from lab.results.measurements import Measurement
from lab.timing.conditions import LoadMonitor, conditions
from lab.timing.runner import measure_in_starts
from stages.optimizers.measure import (
    bias_correction,
    gradient_averages,
    names,
    one_start,
    quadratics,
    rate_sweeps,
    sparse_features,
    torch_runs,
)
from stages.optimizers.measure.lenet_rates import lenet_accuracies
from stages.optimizers.measure.linear_regression import Problem, ill_conditioned, problem, sparse
from stages.optimizers.measure.notes_runs import notes_runs
from stages.optimizers.measure.params import OptimizerParams, Params

ByName = Mapping[tuple[str, str], Curve]  # by experiment and series


def measure(
    params: OptimizerParams, table: Problem, train: Split, test: Split, seed: int
) -> list[Curve]:
    """The curves of all experiments but the times; the same bits from the same seed."""
    problems = {names.AIRFOIL: table, names.ILL: ill_conditioned(seed), names.SPARSE: sparse(seed)}
    return [
        *quadratics.traces(),
        *quadratics.starts(params.num_starts),
        *quadratics.decays(),
        *quadratics.stability(),
        *notes_runs(table, params.num_seeds, seed),
        *torch_runs.concise_runs(table, params.num_seeds, seed),
        *gradient_averages.averages(table, params.num_seeds, seed),
        *gradient_averages.geometric_sum(),
        *gradient_averages.adagrad_state(table, params.num_seeds, seed),
        *bias_correction.corrections(table, params.num_seeds, seed),
        *_sweeps(problems, params, seed),
        *lenet_accuracies(train, test, params.lenet, seed),
    ]


def _sweeps(problems: Mapping[str, Problem], params: OptimizerParams, seed: int) -> Iterator[Curve]:
    found = {
        name: rate_sweeps.sweep(task, params.num_seeds, params.num_rates, seed)
        for name, task in problems.items()
    }
    for name, each in found.items():
        yield from rate_sweeps.sweep_curves(name, each)
        yield from rate_sweeps.epsilons(name, problems[name], each, seed)
    yield from rate_sweeps.decades(found)
    yield from sparse_features.feature_errors(problems[names.SPARSE], found[names.SPARSE])


def by_start(times: Iterable[Measurement]) -> list[Curve]:
    """Times as curves: a value for each start."""
    return [line(m.experiment, m.variant, np.arange(len(m.values)), m.values) for m in times]


def summarise(curves: Sequence[Curve], table: Problem) -> Metrics:
    """How AdaGrad fares from all directions, and what is exact on the airfoil table."""
    by_name = {(c.experiment, c.series): c for c in curves}
    return {
        **{
            metric: _percent_where_adagrad_ends_lower(by_name, names.STARTS[turned])
            for turned, metric in names.ADAGRAD_LOWER_PERCENT.items()
        },
        names.AIRFOIL_MINIMUM: round(table.minimum, 6),
        names.AIRFOIL_RATE_BOUND: round(float(2 / np.linalg.eigvalsh(table.hessian)[-1]), 6),
    }


def _percent_where_adagrad_ends_lower(by_name: ByName, experiment: str) -> float:
    adagrad, gd = (by_name[experiment, name].y for name in (names.ADAGRAD_2, names.GD_04))
    return round(100 * float((adagrad < gd).mean()), 2)


def main() -> None:
    """Measure all experiments and write rows and metrics."""
    params = load(Params)
    devices = processor(threads_per_device(1, params.devices.cpu_threads, usable_cores()))
    table = problem(*objectives.standardise(read_airfoil()))
    train = read_fashion_mnist("train")
    test = read_fashion_mnist("t10k").first(params.optimizers.test_images)
    curves = measure(params.optimizers, table, train, test, params.seed)
    watch = LoadMonitor()
    times = measure_in_starts(one_start, params.bench.starts)
    metrics = {
        "dataset": dataset_name(),
        "airfoil": read_source()["airfoil"],
        **conditions(times, devices, watch, params.bench.starts),
        **summarise(curves, table),
    }
    write_rows(REPORTS / "optimizers", rows_of([*curves, *by_start(times)]))
    write_conditions(REPORTS / "optimizers")
    write_metrics(REPORTS / "optimizers", metrics)


if __name__ == "__main__":
    sys.exit(run(main))
