"""Run the stage: `python -m stages.bench_buckets`."""

import sys

from lab.core.params import load
from lab.core.process import run
from lab.machine.devices import for_ranks
from lab.parallel.local_ranks import on_ranks
from lab.timing.runner import Benchmark
from stages.bench_buckets import findings
from stages.bench_buckets.measure.overlap import measure
from stages.bench_buckets.measure.params import Params


def main() -> None:
    """Measure in ranks of fresh processes, and write the stage's files."""
    params = load(Params)
    n, nets = params.bench_buckets.world_size, params.bench_buckets.nets
    devices = for_ranks([n], params.devices)
    benchmark = Benchmark("bench_buckets", devices)
    in_ranks = on_ranks(n, devices)
    measured = benchmark.repeat(params.bench.starts, measure, params, devices, call=in_ranks)
    images = {f"{net}_images": of_net.images for net, of_net in nets.items()}
    benchmark.write(measured, findings, jobs_at_once=2, **images)


if __name__ == "__main__":
    sys.exit(run(main))
