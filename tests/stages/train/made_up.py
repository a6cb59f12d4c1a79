"""Made-up results of training runs, as the stage writes them."""

from collections.abc import Sequence
from pathlib import Path

import torch

from lab.core.files import write_metrics, write_rows
from lab.machine.devices import Devices
from lab.training.loop import Epoch
from lab.training.run_params import RunParams
from stages.train.measure import results
from stages.train.measure.names import CONFUSION, WORST

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
    write_rows(folder, results.rows_of(epochs, devices, dataset))
    logits = torch.rand(NUM_TEST_IMAGES, 10, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(NUM_TEST_IMAGES) % 10
    write_rows(folder, results.confusion_of(logits, labels), CONFUSION)
    write_rows(folder, results.worst_of(logits, labels), WORST)
    metrics = results.summarise(settings, devices, dataset, epochs, weights=b"")
    write_metrics(folder, {**metrics, **SPEED})
