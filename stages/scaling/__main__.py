"""Run the stage: `python -m stages.scaling`."""

import sys

from lab.core.params import load
from lab.core.process import run
from lab.machine.devices import for_ranks
from lab.parallel.local_ranks import on_ranks
from lab.timing.runner import Benchmark
from stages.scaling import findings
from stages.scaling.measure.params import Params
from stages.scaling.measure.simulated import simulate_clusters
from stages.scaling.measure.steps import measure


def main() -> None:
    params = load(Params)
    n = params.scaling.world_size
    devices = for_ranks([n], params.devices)
    benchmark = Benchmark("scaling", devices)
    in_ranks = on_ranks(n, devices)
    measured = benchmark.repeat(params.bench.starts, measure, params, devices, call=in_ranks)
    measured += simulate_clusters()
    benchmark.write(measured, findings, jobs_at_once=2, world_size=n)


if __name__ == "__main__":
    sys.exit(run(main))
