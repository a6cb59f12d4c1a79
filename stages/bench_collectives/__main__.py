"""Run the stage: `python -m stages.bench_collectives`."""

import sys

from lab.core.files import Metrics
from lab.core.params import load
from lab.core.process import run
from lab.machine.devices import for_ranks, usable_cores
from lab.parallel.cost_model import ONE_BUCKET, PER_TENSOR, STAR
from lab.parallel.local_ranks import on_ranks
from lab.results.measurements import Results
from lab.timing.bench import ratio_metrics, speedup_of
from lab.timing.runner import run_benchmark
from stages.bench_collectives.measure.all_reduces import feasible, measure, measure_once
from stages.bench_collectives.measure.model import model_of
from stages.bench_collectives.measure.params import Params


def summarise(results: Results) -> Metrics:
    """The fitted link, how well it predicts more ranks, and what a bucket gains by the star."""
    model = model_of(results)
    link = model.fit.link
    metrics: dict[str, float | str] = {
        "link": "shared" if model.fit.shared else "own",
        "latency_us": round(1e6 * link.alpha_s, 4),
        "bandwidth_gb_per_s": (
            round(1e-9 / link.s_per_byte, 4) if link.s_per_byte > 0 else "unbounded"
        ),
    }
    if model.many > model.few:
        metrics["unseen_error_percent"] = round(model.unseen_error(model.fit), 1)
    for net in results.variants("tensors"):
        each, joined = (
            results.series("gradients", STAR, net=net, grouping=grouping)[0]
            for grouping in (PER_TENSOR, ONE_BUCKET)
        )
        metrics |= ratio_metrics(f"{net}_bucket_speedup", speedup_of(each, joined))
    return metrics


def main() -> None:
    params = load(Params)
    p, cores = params.bench_collectives, usable_cores()
    devices = for_ranks(p.world_sizes, params.devices)
    run_benchmark(
        "bench_collectives",
        devices,
        params.bench.starts,
        measure,
        summarise,
        compared=("unseen_error_percent", "lenet_bucket_speedup", "resnet18_bucket_speedup"),
        prepare=lambda: (params, devices, cores),
        once=lambda measured: measure_once(p, devices),
        call=on_ranks(max(feasible(p, devices)), devices),
        jobs_at_once=2,
        about={"cores": cores},
    )


if __name__ == "__main__":
    sys.exit(run(main))
