"""Run the stage: `python -m stages.together`."""

import sys
from collections import defaultdict
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
from lab.machine.fresh_process import call_in_subprocess
from lab.results.documents import read_conditions
from lab.results.measurements import Cell, Measurement, Results
from lab.timing.bench import balanced_turns
from lab.timing.conditions import LoadMonitor, load_metrics, speed_metrics
from lab.timing.runner import write_results
from lab.training.run_params import NOTES
from stages.together import findings
from stages.together.measure import one_run
from stages.together.measure.names import TECHNIQUES
from stages.together.measure.params import Params
from stages.together.measure.recipes import Recipe, RecipeRun, recipes, runs_of
from stages.together.measure.time_to_accuracy import NOTES_RUN, RECORDS, fastest, reached, target_of


def measure(params: Params) -> list[Measurement]:
    """Measure the epochs of all recipes that this machine has the devices for, and of the records.

    `stages.train` trained the records. The page quotes the fastest recipe, so it gets more seeds.
    """
    p, gpus = params.together, torch.cuda.device_count()
    by_technique = {
        recipe.technique: recipe
        for recipe in recipes(computes_in_bf16(one_run.device()))
        if not gpus or recipe.num_gpus <= gpus
    }
    measured = notes_run(params)
    known = bool(measured)
    runs = {
        name: [*runs_of(recipe, p, [*by_technique], known)] for name, recipe in by_technique.items()
    }
    for name in RECORDS:
        if name in params.train.runs:
            measured += trained(name, target_of(name))
    jobs = [
        Job(recipe, params.seed + i, one)
        for name, recipe in by_technique.items()
        for i in range(p.seeds)
        for one in runs[name]
    ]
    measured += train_all(jobs, params)
    for target in p.targets:
        while (best := quoted(measured, target)) and best.seeds < p.best_seeds:
            seed = params.seed + best.seeds
            recipe = by_technique[best.technique]
            more = [Job(recipe, seed, one) for one in runs[best.technique]]
            measured += train_all(more, params)
    return measured


class Job(NamedTuple):
    recipe: Recipe
    seed: int
    run: RecipeRun


class Quoted(NamedTuple):
    """The technique that a page quotes, and its number of seeds."""

    technique: str
    seeds: int


def quoted(measured: Sequence[Measurement], target: int) -> Quoted | None:
    """Return the fastest technique trained on whole epochs that reached the accuracy, or None."""
    by_technique = reached(Results(measured), dict.fromkeys(TECHNIQUES, target))
    best = fastest({name: found for name, found in by_technique.items() if not found.extrapolated})
    return Quoted(best, len(by_technique[best].seconds)) if best else None


def train_all(jobs: Sequence[Job], params: Params) -> Iterator[Measurement]:
    """Run each job in a fresh process and yield its epochs.

    Several processes time a partly timed epoch, alternating with the other jobs' processes, so that
    drifts of the machine's speed affect all jobs alike.
    """
    in_part = [i for i, job in enumerate(jobs) if job.run.in_part]
    turns = list(balanced_turns(in_part, params.together.timed_processes)) if in_part else []
    turns += [i for i, job in enumerate(jobs) if not job.run.in_part]
    found: list[list[list[one_run.EpochResult]]] = [[] for _ in jobs]
    for i in tqdm(turns, "together", leave=False, disable=None):
        name = f"a run of {jobs[i].recipe.technique!r}"
        found[i].append(call_in_subprocess(name, one_run.train_recipe, *jobs[i], params))
    for job, of_processes in zip(jobs, found, strict=True):
        devices = one_run.devices_of(job.recipe, params.devices)
        columns = {"target": job.run.target, "seed": job.seed}
        about = (devices.kind, devices.threads, "", columns)
        for epoch, samples in enumerate(zip(*of_processes, strict=True), 1):
            seconds = tuple(round(seconds, 4) for seconds, _ in samples)
            yield Measurement("seconds", job.recipe.technique, epoch, seconds, "s", *about)
            for _, percent in samples:
                if percent is not None:
                    accuracy = (round(percent, 4),)
                    yield Measurement(
                        "accuracy", job.recipe.technique, epoch, accuracy, "%", *about
                    )


def notes_run(params: Params) -> list[Measurement]:
    """Return the epochs of the notes' recipe in `stages.train`.

    All recipes with the same steps need as many. Empty if that run has too few seeds or images, or
    ended below the accuracy.
    """
    p, recipe = params.together, params.train.runs.get(NOTES_RUN)
    if recipe is None or recipe.but(num_epochs=NOTES.num_epochs) != NOTES:
        return []
    if p.seeds > 1 or (p.train_images, p.test_images) != (NOTES.train_images, NOTES.test_images):
        return []
    target = max(p.targets_on_the_way)
    found = list(trained(NOTES_RUN, target))
    return found if NOTES_RUN in reached(Results(found), {NOTES_RUN: target}) else []


def trained(run: str, target: int) -> Iterator[Measurement]:
    """Yield the epochs of all seeds of a run from `stages.train`."""
    folder = REPORTS / "train" / run
    conditions = read_conditions(folder)
    threads, net = int(conditions["threads_per_device"]), str(conditions["net"])
    seconds: defaultdict[int, float] = defaultdict(float)  # of training, by seed
    for row in read_rows(folder / "rows.csv"):
        seed = int(row["seed"])
        seconds[seed] += float(row["seconds"])
        columns: dict[str, Cell] = {"target": target, "seed": seed, "net": net}
        about = (str(row["device_kind"]), threads, "", columns)
        for experiment, value, unit in (
            ("seconds", seconds[seed], "s"),
            ("accuracy", 100 * float(row["test_accuracy"]), "%"),
        ):
            yield Measurement(experiment, run, int(row["epoch"]), (round(value, 4),), unit, *about)


def main() -> None:
    params = load(  # of the training runs, only these affect the results
        Params,
        decisive=lambda p: (
            *(p.seed, p.devices, p.together),
            *map(p.train.runs.get, (NOTES_RUN, *RECORDS)),
        ),
    )
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
