"""Run the stage: `python -m stages.scaling`."""

import sys

from lab.core.files import Metrics
from lab.core.params import load
from lab.core.process import run
from lab.machine.devices import for_ranks
from lab.parallel.link_fit import fit_both
from lab.parallel.local_ranks import on_ranks
from lab.results.measurements import Results
from lab.timing.runner import run_benchmark
from stages.scaling.measure.params import Params
from stages.scaling.measure.predictions import compared_steps, mean_error, noise_floor
from stages.scaling.measure.simulated import simulate_clusters
from stages.scaling.measure.steps import measure


def summarise(results: Results, n: int) -> Metrics:
    """The link, and how far the predictions are off; errors are medians over the starts."""
    fit, _ = fit_both([m for m in results.measurements if m.experiment == "message"], n)
    steps = compared_steps(results)
    worst = max(100 * abs(step.error) for step in steps)
    return {
        "world_size": n,
        "link": "shared" if fit.shared else "own",
        "mean_error_percent": round(mean_error(steps), 4),
        "largest_error_percent": round(worst, 4),
        "noise_floor_percent": round(noise_floor(results), 4),
        "max_rule_mean_error_percent": round(mean_error(steps, overlap=True), 4),
    }


def main() -> None:
    params = load(Params)
    p = params.scaling
    devices = for_ranks([p.world_size], params.devices)
    run_benchmark(
        "scaling",
        devices,
        params.bench.starts,
        measure,
        lambda results: summarise(results, p.world_size),
        compared=("mean_error_percent", "largest_error_percent", "max_rule_mean_error_percent"),
        prepare=lambda: (params, devices),
        once=lambda measured: simulate_clusters(),
        call=on_ranks(p.world_size, devices),
        jobs_at_once=2,
    )


if __name__ == "__main__":
    sys.exit(run(main))
