"""Run the stage: `python -m stages.bench_buckets`."""

import sys
from collections.abc import Sequence

from tqdm import tqdm

from lab.core.files import REPORTS, write_metrics, write_rows
from lab.core.params import load
from lab.core.process import run
from lab.machine.devices import for_ranks
from lab.machine.hardware import write_conditions
from lab.parallel.local_ranks import run_on_ranks
from lab.results.measurements import Measurement, Results, rows_of
from lab.timing.bench import ratio_metrics, speedup_of
from lab.timing.conditions import LoadMonitor, conditions
from lab.timing.deadline import until_deadline
from lab.timing.runner import merge
from stages.bench_buckets.measure import names, one_rank
from stages.bench_buckets.measure.params import Params


def summarise(measurements: Sequence[Measurement]) -> dict[str, float | str]:
    """What overlap gains for ResNet-18 in DistributedDataParallel's own size of buckets."""
    results = Results(measurements)
    at_once, at_last = (
        results.one(names.of_net(names.STEP, "resnet18"), variant, names.DEFAULT_MIB)
        for variant in (names.AT_ONCE, names.AT_LAST)
    )
    if not at_once or not at_last:  # params.yaml sweeps other sizes
        return {}
    return ratio_metrics(names.SPEEDUP, speedup_of(at_last, at_once))


def main() -> None:
    """Measure and write rows and metrics."""
    params = load(Params)
    n, starts = params.bench_buckets.world_size, params.bench.starts
    watch, devices = LoadMonitor(), for_ranks([n], params.devices)
    in_time = tqdm(until_deadline(starts), "starts", total=starts, leave=False, disable=None)
    measured = merge(
        [run_on_ranks(n, devices, one_rank.measure, devices, params, i) for i in in_time]
    )
    write_rows(REPORTS / "bench_buckets", rows_of(measured))
    head = conditions(measured, devices, watch, starts, jobs_at_once=2)
    write_conditions(REPORTS / "bench_buckets")
    write_metrics(REPORTS / "bench_buckets", head | summarise(measured))


if __name__ == "__main__":
    sys.exit(run(main))
