"""Run the stage: `python -m stages.together`."""

import sys
from collections.abc import Iterator

import torch
from tqdm import tqdm

from lab.core.files import REPORTS, read_rows
from lab.core.params import load
from lab.core.process import run
from lab.data.datasets import dataset_name
from lab.data.loaders import WORKER_START
from lab.machine.devices import computes_in_bf16
from lab.machine.fresh_process import call_in_subprocess
from lab.results.documents import read_conditions
from lab.results.measurements import Measurement
from lab.timing.conditions import LoadMonitor, load_metrics, speed_metrics
from lab.timing.runner import write_results
from stages.together import findings
from stages.together.measure import one_run
from stages.together.measure.ladder import RECORDS, ladder, records, runs_of
from stages.together.measure.params import Params
from stages.together.measure.time_to_accuracy import RUNGS, target_of


def measure(params: Params) -> Iterator[Measurement]:
    """Each epoch of each run of each rung that this machine has the devices for, and of records.

    A record's first seed has been trained: it is a run of its own.
    """
    p, gpus = params.together, torch.cuda.device_count()
    ways = [*ladder(computes_in_bf16(one_run.device())), *records(params)]
    ways = [way for way in ways if not gpus or way.num_gpus <= gpus]
    rungs = [way.lesson for way in ways if way.lesson in RUNGS]
    jobs = [
        (rung, params.seed + i, one)
        for rung in ways
        for i in (range(p.seeds) if rung.lesson in rungs else range(1, p.record_seeds))
        for one in runs_of(rung, p, rungs)
    ]
    for record in ways:
        if record.lesson not in rungs:
            yield from trained(record.lesson, params.seed)
    for rung, seed, one in tqdm(jobs, "together", leave=False, disable=None):
        name, devices = f"a run of {rung.lesson!r}", one_run.devices_of(rung, params.devices)
        runs = [
            call_in_subprocess(name, one_run.train_rung, rung, seed, one, params)
            for _ in range(p.timed_processes if one.in_part else 1)
        ]
        about = (devices.kind, devices.threads, "", {"target": one.target, "seed": seed})
        for epoch, samples in enumerate(zip(*runs, strict=True), 1):
            seconds = tuple(round(seconds, 4) for seconds, _ in samples)
            yield Measurement("seconds", rung.lesson, epoch, seconds, "s", *about)
            for _, percent in samples:
                if percent is not None:
                    found = (round(percent, 4),)
                    yield Measurement("accuracy", rung.lesson, epoch, found, "%", *about)


def trained(record: str, seed: int) -> Iterator[Measurement]:
    """The epochs of a record's run, as `stages.train` left them."""
    folder, seconds = REPORTS / "train" / record, 0.0
    columns = {"target": target_of(record), "seed": seed}
    threads = int(read_conditions(folder)["threads_per_device"])
    for row in read_rows(folder / "rows.csv"):
        seconds += float(row["seconds"])
        about = (str(row["device_kind"]), threads, "", columns)
        for experiment, value, unit in (
            ("seconds", seconds, "s"),
            ("accuracy", 100 * float(row["test_accuracy"]), "%"),
        ):
            yield Measurement(
                experiment, record, int(row["epoch"]), (round(value, 4),), unit, *about
            )


def main() -> None:
    """Measure and write rows and metrics."""
    params = load(  # of the training runs, only the records decide
        Params,
        decisive=lambda p: (p.seed, p.devices, p.together, [*map(p.train.runs.get, RECORDS)]),
    )
    watch = LoadMonitor()
    measured = list(measure(params))
    conditions = {
        "dataset": dataset_name(),
        "worker_start": WORKER_START,
        **load_metrics(watch),
        **speed_metrics(watch),
        "seeds": params.together.seeds,
    }
    write_results("together", measured, conditions, findings)


if __name__ == "__main__":
    sys.exit(run(main))
