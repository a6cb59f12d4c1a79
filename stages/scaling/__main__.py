"""Run the stage: `python -m stages.scaling`."""

import sys

from lab.core.params import load
from lab.core.process import run
from lab.machine.devices import for_ranks, usable_cores
from lab.parallel.local_ranks import on_ranks
from lab.timing.runner import Benchmark
from stages.scaling import findings
from stages.scaling.measure.params import Params
from stages.scaling.measure.ranks import measure


def main() -> None:
    params = load(Params)
    devices = for_ranks(params.scaling.world_sizes, params.devices)
    # leave out more ranks than there are GPUs
    world_sizes = [n for n in params.scaling.world_sizes if n <= len(devices.devices)]
    benchmark = Benchmark("scaling", devices)
    in_ranks = on_ranks(max(world_sizes), devices)
    measured = benchmark.repeat(
        params.bench.starts, measure, params, devices, world_sizes, call=in_ranks
    )
    n, cores = min(world_sizes), usable_cores()
    benchmark.write(measured, findings, jobs_at_once=n, world_size=n, cores=cores)


if __name__ == "__main__":
    sys.exit(run(main))
