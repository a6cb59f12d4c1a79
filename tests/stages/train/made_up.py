"""Made-up results of training runs, as the stage writes them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
from ruamel.yaml import YAML

from lab.core.files import write_metrics, write_rows
from lab.machine.devices import Devices
from lab.tools.profiles import merge
from lab.training.loop import Epoch
from lab.training.run_params import RunParams, TrainParams
from stages.train.measure import results
from stages.train.measure.names import CONFUSION, WORST
from tests.helpers import ROOT

NUM_TEST_IMAGES = 40
SPEED = {
    "product_gflops_before": 100.0,
    "product_gflops_after": 99.0,
    "copy_gbs_before": 10.0,
    "copy_gbs_after": 9.9,
}


def write(
    folder: Path, settings: RunParams, epochs: Sequence[Epoch], devices: Devices, dataset: str
) -> None:
    """Write what a run leaves, but for its weights; its labels are drawn by chance."""
    num_images = settings.train_images
    write_rows(folder, results.rows_of(epochs, devices, dataset))
    logits = torch.rand(NUM_TEST_IMAGES, 10, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(NUM_TEST_IMAGES) % 10
    write_rows(folder, results.confusion_of(logits, labels), CONFUSION)
    write_rows(folder, results.worst_of(logits, labels), WORST)
    metrics = results.summarise(settings, epochs, num_images, b"", devices, dataset, SPEED)
    write_metrics(folder, metrics)


def write_notes_runs(reports: Path) -> None:
    """Write the runs of the profile `full` on GPUs: 84 % in the end, two GPUs twice as fast."""
    full = YAML(typ="safe").load(merge("full", ROOT / "profiles"))
    for name, settings in TrainParams.model_validate(full["train"]).runs.items():
        devices = Devices("cuda", [torch.device("cpu")] * settings.num_gpus, 0)
        seconds = [10 / settings.num_gpus + e / 1e3 for e in range(1, settings.num_epochs + 1)]
        epochs = [Epoch(e, 1 / e, 0.8, s) for e, s in enumerate(seconds, 1)]
        epochs[-1] = replace(epochs[-1], test_accuracy=0.84)
        write(reports / "train" / name, settings, epochs, devices, "fashion-mnist")
