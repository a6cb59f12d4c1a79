"""Run the stage: `python -m stages.bench_buckets`."""

import sys

from lab.core.files import Metrics
from lab.core.params import load
from lab.core.process import run
from lab.machine.devices import for_ranks
from lab.parallel.local_ranks import on_ranks
from lab.results.measurements import Results
from lab.timing.bench import ratio_metrics, speedup_of
from lab.timing.runner import run_benchmark
from stages.bench_buckets.measure.names import AT_LAST, AT_ONCE, SPEEDUP
from stages.bench_buckets.measure.overlap import measure
from stages.bench_buckets.measure.params import Params

DEFAULT_MIB = 25  # of DistributedDataParallel's buckets


def summarise(results: Results) -> Metrics:
    """What overlap gains for ResNet-18 in DistributedDataParallel's own size of buckets."""
    at_once, at_last = (
        results.one("step", variant, DEFAULT_MIB, net="resnet18") for variant in (AT_ONCE, AT_LAST)
    )
    if not at_once or not at_last:  # params.yaml sweeps other sizes
        return {}
    return ratio_metrics(SPEEDUP, speedup_of(at_last, at_once))


def main() -> None:
    """Measure in ranks of fresh processes, and write the stage's files."""
    params = load(Params)
    n = params.bench_buckets.world_size
    images = {f"{net}_images": p.images for net, p in params.bench_buckets.nets.items()}
    devices = for_ranks([n], params.devices)
    run_benchmark(
        "bench_buckets",
        devices,
        params.bench.starts,
        measure,
        lambda results: {**images, **summarise(results)},
        compared=(SPEEDUP,),
        prepare=lambda: (devices, params),
        call=on_ranks(n, devices),
        jobs_at_once=2,
    )


if __name__ == "__main__":
    sys.exit(run(main))
