"""Run the stage: `python -m stages.together`."""

import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from tqdm import tqdm

from lab.core.files import REPORTS, Metrics, Row, write_metrics, write_rows
from lab.core.params import load
from lab.core.process import run
from lab.data.datasets import dataset_name
from lab.machine.fresh_process import call_in_subprocess
from lab.machine.hardware import write_conditions
from lab.timing.conditions import LoadMonitor, load_metrics, speed_metrics
from stages.together.measure import names, one_run
from stages.together.measure.ladder import Rung
from stages.together.measure.params import Params, TogetherParams
from stages.together.measure.seconds_to import seconds_to


class Asked(NamedTuple):
    """A run of a rung: some arguments of `one_run.epochs_of`."""

    target: int
    num_epochs: int
    in_part: bool


def runs_of(rung: Rung, p: TogetherParams, rungs: Sequence[str]) -> Iterator[Asked]:
    """The runs of one of the rungs, or of a record, with one seed."""
    targets = p.targets if rung.lesson == rungs[-1] else p.targets_on_the_way
    if rung.lesson.startswith(names.RECORD):
        for target, num_epochs in rung.epochs.items():
            yield Asked(target, num_epochs, in_part=False)
    elif rung.lesson in names.timed_in_part(rungs) and not p.whole:
        yield Asked(0, 1, in_part=True)
    elif rung.schedule == "constant":
        yield Asked(max(targets), p.max_epochs, in_part=False)
    else:
        for target in targets:
            yield Asked(target, rung.epochs[target], in_part=False)


def measure(params: Params) -> Iterator[Row]:
    """One row for each epoch of each run of each rung that this machine has the devices for."""
    p, gpus = params.together, torch.cuda.device_count()
    ways = [way for way in one_run.rungs(params) if not gpus or way.num_devices <= gpus]
    rungs = [way.lesson for way in ways if way.lesson in names.RUNGS]
    jobs = [
        (rung, params.seed + i, asked)
        for rung in ways
        for i in range(p.seeds if rung.lesson in rungs else p.record_seeds)
        for asked in runs_of(rung, p, rungs)
    ]
    for rung, seed, asked in tqdm(jobs, "together", leave=False, disable=None):
        devices = one_run.devices_of(rung, params.devices)
        epochs = call_in_subprocess(
            f"a run of {rung.lesson!r}", one_run.epochs_of, rung, seed, *asked, params
        )
        for epoch, (seconds, accuracy) in enumerate(epochs, 1):
            yield {
                names.RUNG: rung.lesson,
                names.TARGET: asked.target,
                names.SEED: seed,
                names.EPOCH: epoch,
                names.SECONDS: round(seconds, 4),
                names.ACCURACY: "" if accuracy is None else round(accuracy, 4),
                names.DEVICE_KIND: devices.kind,
                names.THREADS: devices.threads,
            }


def summarise(rows: Sequence[Row], p: TogetherParams) -> Metrics:
    """Seconds to each accuracy by the notes' way and by all lessons, medians over seeds."""
    metrics: dict[str, float | str] = {"seeds": p.seeds}
    rungs = [str(row[names.RUNG]) for row in rows]
    last = [rung for rung in rungs if rung in names.RUNGS][-1]
    for target in p.targets:
        notes, all_ = (seconds_to(rows, rung, target) for rung in (names.NOTES, last))
        if all_ and all_.reached:
            metrics[names.BY_ALL.format(target)] = round(all_.median, 3)
        if notes and notes.reached:
            metrics[names.BY_THE_NOTES.format(target)] = round(notes.median, 3)
        if notes and all_ and notes.reached and all_.reached:
            metrics[names.SPEEDUP.format(target)] = round(notes.median / all_.median, 2)
    for record in dict.fromkeys(rung for rung in rungs if rung.startswith(names.RECORD)):
        if (found := seconds_to(rows, record, names.target_of(record))) and found.reached:
            metrics[f"{record}_s"] = round(found.median, 3)
    return metrics


def _decisive(params: Params) -> object:
    """What the results depend on: of the training runs, only the records."""
    records = [params.train.runs.get(name) for name in names.RECORDS]
    return params.seed, params.devices, params.together, records


def main() -> None:
    """Measure and write rows and metrics."""
    params = load(Params, decisive=_decisive)
    watch = LoadMonitor()
    rows = list(measure(params))
    write_rows(REPORTS / "together", rows)
    head: Metrics = {"dataset": dataset_name(), **load_metrics(watch), **speed_metrics(watch)}
    found = summarise(rows, params.together)
    write_conditions(REPORTS / "together")
    write_metrics(REPORTS / "together", {**head, **found})


if __name__ == "__main__":
    sys.exit(run(main))
