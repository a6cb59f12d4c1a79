"""Run the stage: `python -m stages.together`."""

import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from tqdm import tqdm

from lab.core.files import REPORTS, read_rows
from lab.core.params import load
from lab.core.process import run
from lab.data.datasets import dataset_name
from lab.data.loaders import WORKER_START
from lab.machine.devices import computes_in_bf16
from lab.machine.fresh_process import await_server, call_in_subprocess
from lab.results.documents import read_conditions
from lab.results.measurements import Measurement, Results
from lab.timing.bench import balanced_turns
from lab.timing.conditions import LoadMonitor, load_metrics, speed_metrics
from lab.timing.runner import write_results
from lab.training.run_params import NOTES
from stages.together import findings
from stages.together.measure import one_run
from stages.together.measure.ladder import RECORDS, Run, Rung, ladder, records, runs_of
from stages.together.measure.params import Params
from stages.together.measure.time_to_accuracy import NOTES_RUN, RUNGS, fastest, reached, target_of


def measure(params: Params) -> list[Measurement]:
    """Each epoch of each run of each rung that this machine has the devices for, and of records.

    A record's first seed has been trained: it is a run of its own. The fastest rung is quoted, and
    so has more seeds than others.
    """
    p, gpus = params.together, torch.cuda.device_count()
    ways = [*ladder(computes_in_bf16(one_run.device())), *records(params)]
    ways = [way for way in ways if not gpus or way.num_gpus <= gpus]
    rungs = {way.lesson: way for way in ways if way.lesson in RUNGS}
    measured = notes_run(params)
    runs = {way.lesson: [*runs_of(way, p, [*rungs], epochs_known=bool(measured))] for way in ways}
    for way in ways:
        if way.lesson not in rungs:
            measured += trained(way.lesson, target_of(way.lesson), params.seed)
    seeds = {name: range(1, count) for name, count in p.record_seeds.model_dump().items()}
    seeds |= dict.fromkeys(rungs, range(p.seeds))
    jobs = [
        Job(way, params.seed + i, one)
        for way in ways
        for i in seeds[way.lesson]
        for one in runs[way.lesson]
    ]
    measured += train_all(jobs, params)
    for target in p.targets:
        while (best := quoted(measured, target)) and best.seeds < p.best_seeds:
            seed = params.seed + best.seeds
            more = [Job(rungs[best.rung], seed, one) for one in runs[best.rung]]
            measured += train_all(more, params)
    return measured


class Job(NamedTuple):
    """A run of a rung or of a record, with a seed."""

    way: Rung
    seed: int
    run: Run


class Quoted(NamedTuple):
    """The rung whose seconds a page quotes, and how many seeds it has."""

    rung: str
    seeds: int


def quoted(measured: Sequence[Measurement], target: int) -> Quoted | None:
    """The fastest of those that were trained whole; None if none of them reached the accuracy."""
    ways = reached(Results(measured), dict.fromkeys(RUNGS, target))
    best = fastest({rung: found for rung, found in ways.items() if not found.extrapolated})
    return Quoted(best, len(ways[best].seconds)) if best else None


def train_all(jobs: Sequence[Job], params: Params) -> Iterator[Measurement]:
    """The epochs of all jobs, each in a fresh process.

    Of an epoch that is timed in part several time it, in turn with those of the other jobs: what a
    machine's speed does in the meantime, it does to all of them.
    """
    in_part = [i for i, job in enumerate(jobs) if job.run.in_part]
    turns = list(balanced_turns(in_part, params.together.timed_processes)) if in_part else []
    turns += [i for i, job in enumerate(jobs) if not job.run.in_part]
    found: list[list[list[one_run.EpochResult]]] = [[] for _ in jobs]
    for i in tqdm(turns, "together", leave=False, disable=None):
        name = f"a run of {jobs[i].way.lesson!r}"
        found[i].append(call_in_subprocess(name, one_run.train_rung, *jobs[i], params))
    for job, of_processes in zip(jobs, found, strict=True):
        devices = one_run.devices_of(job.way, params.devices)
        columns = {"target": job.run.target, "seed": job.seed}
        about = (devices.kind, devices.threads, "", columns)
        for epoch, samples in enumerate(zip(*of_processes, strict=True), 1):
            seconds = tuple(round(seconds, 4) for seconds, _ in samples)
            yield Measurement("seconds", job.way.lesson, epoch, seconds, "s", *about)
            for _, percent in samples:
                if percent is not None:
                    accuracy = (round(percent, 4),)
                    yield Measurement("accuracy", job.way.lesson, epoch, accuracy, "%", *about)


def notes_run(params: Params) -> list[Measurement]:
    """The epochs of the notes' recipe in `stages.train`: as many as each rung of its steps needs.

    None where that run has fewer seeds or images than are asked for, or ended below the accuracy.
    """
    p, recipe = params.together, params.train.runs.get(NOTES_RUN)
    if recipe is None or recipe.but(num_epochs=NOTES.num_epochs) != NOTES:
        return []
    if p.seeds > 1 or (p.train_images, p.test_images) != (NOTES.train_images, NOTES.test_images):
        return []
    target = max(p.targets_on_the_way)
    found = list(trained(NOTES_RUN, target, params.seed))
    return found if NOTES_RUN in reached(Results(found), {NOTES_RUN: target}) else []


def trained(run: str, target: int, seed: int) -> Iterator[Measurement]:
    """The epochs of a run as `stages.train` left them."""
    folder, seconds = REPORTS / "train" / run, 0.0
    threads = int(read_conditions(folder)["threads_per_device"])
    for row in read_rows(folder / "rows.csv"):
        seconds += float(row["seconds"])
        about = (str(row["device_kind"]), threads, "", {"target": target, "seed": seed})
        for experiment, value, unit in (
            ("seconds", seconds, "s"),
            ("accuracy", 100 * float(row["test_accuracy"]), "%"),
        ):
            yield Measurement(experiment, run, int(row["epoch"]), (round(value, 4),), unit, *about)


def main() -> None:
    """Measure and write rows and metrics."""
    params = load(  # of the training runs, only these decide
        Params,
        decisive=lambda p: (
            *(p.seed, p.devices, p.together),
            *map(p.train.runs.get, (NOTES_RUN, *RECORDS)),
        ),
    )
    await_server()
    watch = LoadMonitor()
    measured = measure(params)
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
