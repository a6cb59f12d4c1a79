"""What the page on training on several devices names: pairs of runs, and by how much they part."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.core.files import ROWS, read_rows
from lab.core.params import PARAMS_FILE, read_yaml
from lab.report.benchmarks import TITLES
from lab.report.language import say
from lab.results.documents import read_results
from lab.results.findings import Finding
from lab.training.run_params import NOTES, RunParams
from stages.train.findings import findings
from stages.train.measure.names import (
    EPOCH_S,
    FINAL_ACCURACY,
    TEST_ACCURACY,
    TRAIN_LOSS,
    WEIGHTS_HASH,
)

OF_TIMES = False
OUTCOMES = {"has_same": (True, False), "has_pairs": (True, False)}
WITHOUT_BATCH_NORM = ("lenet", "lenet_he", "mlp")


@dataclass(frozen=True)
class TrainingRun:
    """One run of the train stage: its name, conditions, rows (one per epoch) and findings."""

    name: str
    conditions: Mapping[str, Any]
    rows: Sequence[Mapping[str, Any]]
    found: Mapping[str, Finding]

    @property
    def recipe(self) -> dict[str, Any]:
        """How it was trained, on whatever devices."""
        return recipe_in(self.conditions)

    def column(self, key: str) -> list[float]:
        """One value per epoch."""
        return [float(row[key]) for row in self.rows]

    @property
    def net(self) -> str:
        """What it trains, in words."""
        nets = {
            **TITLES,
            "lenet_he": say("LeNet, He initialization"),
            "mlp": say("MLP"),
            "convnet": say("ConvNet"),
            "convnet_deep": say("deeper ConvNet"),
        }
        return nets[str(self.conditions["net"])]

    @property
    def num_devices(self) -> int:
        """How many devices share its batches."""
        return int(self.conditions["num_devices"])

    @property
    def accuracy(self) -> float:
        """On the test images after the last epoch, in percent."""
        return self.found[FINAL_ACCURACY].value

    @property
    def epoch_s(self) -> float:
        """Seconds of training in an epoch."""
        return self.found[EPOCH_S].value

    @property
    def as_the_book(self) -> bool:
        """Whether each epoch trains as the book's: at its constant rate, a run may end earlier."""
        others = {"strategy": NOTES.strategy, "shards": "none", "num_epochs": NOTES.num_epochs}
        return self.conditions["dataset"] == "fashion-mnist" and self.recipe | others == recipe_in(
            NOTES.model_dump()
        )


@dataclass(frozen=True)
class Pair:
    """Two runs that differ in devices only."""

    one: TrainingRun
    many: TrainingRun

    @property
    def points(self) -> list[float]:
        """By how many points of test accuracy they differ after each epoch."""
        accuracies = (run.column(TEST_ACCURACY) for run in (self.one, self.many))
        return [100 * abs(a - b) for a, b in zip(*accuracies, strict=True)]

    @property
    def most_points(self) -> float:
        """The same where they differ most."""
        return max(self.points)

    @property
    def first_loss(self) -> float:
        """By how much the losses of the first epoch differ, relative to one of them."""
        one, many = (run.column(TRAIN_LOSS)[0] for run in (self.one, self.many))
        return abs(one - many) / one

    @property
    def weights(self) -> str:
        """Whether both end with the same bits, in words."""
        of_one, of_many = (run.conditions[WEIGHTS_HASH] for run in (self.one, self.many))
        return say("bit-for-bit identical") if of_one == of_many else say("different")

    @property
    def has_batch_norm(self) -> bool:
        """Whether the network has it."""
        return self.one.conditions["net"] not in WITHOUT_BATCH_NORM


def runs_of(folder: Path) -> list[TrainingRun]:
    """All runs that params.yaml asks for."""
    found = []
    for name in read_yaml(PARAMS_FILE)["train"]["runs"]:
        results, rows = read_results(folder / name), read_rows(folder / name / ROWS)
        found.append(TrainingRun(name, results.conditions, rows, findings(results)))
    return found


def values(folder: Path) -> dict[str, object]:
    """The values of `folder` (reports/train)."""
    runs = runs_of(folder)
    pairs = pairs_of(runs)
    same = next((pair for pair in pairs if not pair.has_batch_norm), None)
    return {
        "runs": runs,
        "pairs": pairs,
        "has_pairs": bool(pairs),
        "same": same,
        "has_same": same is not None,
        "tried": (same.many if same else runs[0]).name,
    }


def pairs_of(runs: Sequence[TrainingRun]) -> list[Pair]:
    """The runs that differ in devices only, the one on one device first."""
    return [Pair(one, many) for one in runs for many in runs if _differ_in_devices(one, many)]


def compared(runs: Sequence[TrainingRun]) -> list[TrainingRun]:
    """The runs whose curves are shown: pairs of several epochs, or whatever there is."""
    long = [run for run in runs if len(run.rows) > 1] or list(runs)
    names = {run.name for pair in pairs_of(long) for run in (pair.one, pair.many)}
    return [run for run in long if run.name in names] or long


def labels_of(runs: Sequence[TrainingRun]) -> dict[str, str]:
    """What figures call the runs: network and devices; by its own name one of several such."""
    words = {
        run.name: say("{net}, 1 device", net=run.net)
        if run.num_devices == 1
        else say("{net}, {n} devices", net=run.net, n=run.num_devices)
        for run in runs
    }
    found = list(words.values())
    return {name: text if found.count(text) == 1 else name for name, text in words.items()}


def recipe_in(conditions: Mapping[str, Any]) -> dict[str, Any]:
    """The recipe in a run's conditions, which leave out its devices and how many images test it."""
    without = ("num_gpus", "test_images")
    return {key: conditions[key] for key in RunParams.model_fields if key not in without}


def _differ_in_devices(one: TrainingRun, many: TrainingRun) -> bool:
    where = ("dataset", "device_kind", "threads_per_device")
    return (
        one.recipe == many.recipe
        and all(one.conditions[key] == many.conditions[key] for key in where)
        and one.num_devices == 1 < many.num_devices
    )
