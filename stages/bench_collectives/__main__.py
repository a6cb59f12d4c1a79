"""Run the stage: `python -m stages.bench_collectives`."""

import sys

from lab.core.params import load
from lab.core.process import run
from lab.machine.devices import for_ranks, usable_cores
from lab.parallel.local_ranks import on_ranks
from lab.timing.runner import Benchmark
from stages.bench_collectives import findings
from stages.bench_collectives.measure.all_reduces import feasible, measure, measure_once
from stages.bench_collectives.measure.params import Params


def main() -> None:
    params = load(Params)
    p, cores = params.bench_collectives, usable_cores()
    devices = for_ranks(p.world_sizes, params.devices)
    benchmark = Benchmark("bench_collectives", devices)
    in_ranks = on_ranks(max(feasible(p, devices)), devices)
    measured = benchmark.repeat(params.bench.starts, measure, params, devices, cores, call=in_ranks)
    measured += measure_once(p, devices)
    benchmark.write(measured, findings, jobs_at_once=2, cores=cores)


if __name__ == "__main__":
    sys.exit(run(main))
