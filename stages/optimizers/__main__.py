"""Run the stage: `python -m stages.optimizers`."""

import sys
from collections.abc import Iterator, Mapping

import numpy as np

from lab.core.params import load
from lab.core.process import run
from lab.data.datasets import read_airfoil, read_source
from lab.machine.devices import processor, threads_per_device, usable_cores
from lab.optim import objectives
from lab.results.measurements import Measurement
from lab.timing.runner import Benchmark
from stages.optimizers import findings
from stages.optimizers.measure import averages, quadratics, regression, sweeps
from stages.optimizers.measure.params import ROTATED, OptimizerParams, Params
from stages.optimizers.measure.regression import Problem


def measure(params: OptimizerParams, table: Problem, seed: int) -> list[Measurement]:
    """All experiments but the times; the same bits from the same seed."""
    problems = {
        "airfoil": table,
        "ill": regression.ill_conditioned(seed),
        "sparse": regression.sparse(seed),
    }
    return [
        *quadratics.traces(),
        *quadratics.starts(params.num_starts),
        *quadratics.stability(),
        *regression.notes_runs(table, params.num_seeds, seed),
        *regression.concise_runs(table, params.num_seeds, seed),
        *averages.averages(table, params.num_seeds, seed),
        *averages.geometric_sum(),
        *averages.adagrad_state(table, params.num_seeds, seed),
        *averages.corrections(table, params.num_seeds, seed),
        *_sweeps(problems, params, seed),
    ]


def _sweeps(
    problems: Mapping[str, Problem], params: OptimizerParams, seed: int
) -> Iterator[Measurement]:
    found = {
        name: sweeps.sweep(task, params.num_seeds, params.num_rates, seed)
        for name, task in problems.items()
    }
    turned = regression.rotated(problems["ill"], seed)
    rotated = sweeps.sweep(turned, params.num_seeds, params.num_rates, seed)
    yield from sweeps.at_best_rates(ROTATED, rotated)
    for name, each in found.items():
        yield from sweeps.by_rate(name, each)
        yield from sweeps.at_best_rates(name, each)
        yield from sweeps.epsilons(name, problems[name], each, seed)
    yield from sweeps.decades(found)
    yield from sweeps.feature_errors(problems["sparse"], found["sparse"])


def main() -> None:
    """Time steps in fresh processes, measure all else once, and write the results."""
    params = load(Params)
    devices = processor(threads_per_device(1, params.devices.cpu_threads, usable_cores()))
    benchmark = Benchmark("optimizers", devices)
    table = regression.problem(*objectives.standardise(read_airfoil()))
    times = benchmark.repeat(params.bench.starts, sweeps.step_times, params.bench, devices.threads)
    benchmark.write(
        [*times, *measure(params.optimizers, table, params.seed)],
        findings,
        airfoil=read_source()["airfoil"],
        airfoil_minimum=round(table.minimum, 6),
        airfoil_rate_bound=round(float(2 / np.linalg.eigvalsh(table.hessian)[-1]), 6),
    )


if __name__ == "__main__":
    sys.exit(run(main))
