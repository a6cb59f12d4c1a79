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
from stages.optimizers.measure.names import ROTATED
from stages.optimizers.measure.params import OptimizerParams, Params
from stages.optimizers.measure.regression import Problem


def measure(params: OptimizerParams, table: Problem, seed: int) -> list[Measurement]:
    """Run all experiments except the times; the same seed gives the same bits."""
    seeds = range(seed, seed + 2 * params.num_seeds)  # the second half chooses the rates
    problems = {
        "airfoil": table,
        "ill": regression.ill_conditioned(seeds),
        "sparse": regression.sparse(seeds),
    }
    return [
        *quadratics.traces(),
        *quadratics.starts(params.num_starts),
        *quadratics.stability(),
        *regression.notes_runs(table, params.num_seeds, seed),
        *regression.concise_runs(table, params.num_seeds, seed),
        *regression.first_steps(table, seed),
        *averages.averages(table, params.num_seeds, seed),
        *averages.geometric_sum(),
        *averages.adagrad_state(table, params.num_seeds, seed),
        *averages.corrections(table, params.num_seeds, seed),
        *_sweeps(problems, regression.rotated(problems["ill"], seeds), params, seed),
    ]


def _sweeps(
    problems: Mapping[str, Problem], turned: Problem, params: OptimizerParams, seed: int
) -> Iterator[Measurement]:
    found = {
        name: sweeps.sweep(task, params.num_seeds, params.num_rates, seed)
        for name, task in problems.items()
    }
    rotated = sweeps.sweep(turned, params.num_seeds, params.num_rates, seed)
    yield from sweeps.at_best_rates(ROTATED, rotated)
    for name, each in found.items():
        yield from sweeps.by_rate(name, each)
        yield from sweeps.at_best_rates(name, each)
        yield from sweeps.epsilons(name, problems[name], each, seed)
    best = found["airfoil"].best_rate("momentum 0.9")
    rates = {"by the notes": 0.005, "by other seeds": best}
    yield from averages.momentum_at(problems["airfoil"], rates, params.num_seeds, seed)
    yield from sweeps.feature_errors(problems["sparse"], found["sparse"])


def main() -> None:
    """Time steps in fresh processes, measure the rest once, and write the results."""
    params = load(Params)
    devices = processor(threads_per_device(1, params.devices.cpu_threads, usable_cores()))
    benchmark = Benchmark("optimizers", devices)
    table = regression.problem(*objectives.standardise(read_airfoil()))
    times = benchmark.repeat(params.bench.starts, sweeps.step_times, params.bench, devices.threads)
    benchmark.write(
        [*times, *measure(params.optimizers, table, params.seed)],
        findings,
        airfoil=read_source()["airfoil"],
        airfoil_minimum=round(float(table.minimum[0]), 6),
        airfoil_rate_bound=round(float(2 / np.linalg.eigvalsh(table.hessian[0])[-1]), 6),
    )


if __name__ == "__main__":
    sys.exit(run(main))
