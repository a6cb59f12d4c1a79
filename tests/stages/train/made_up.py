"""Made-up results of training runs, as the stage writes them."""

from collections.abc import Sequence
from pathlib import Path

from lab.core.files import write_metrics, write_rows
from lab.machine.devices import Devices
from lab.training.loop import Epoch
from lab.training.run_params import RunParams
from stages.train.measure import results

SPEED = {
    "product_gflops_before": 100.0,
    "product_gflops_after": 99.0,
    "copy_gbs_before": 10.0,
    "copy_gbs_after": 9.9,
}


def write(
    folder: Path, settings: RunParams, epochs: Sequence[Epoch], devices: Devices, dataset: str
) -> None:
    """Write what a run leaves, but for its weights."""
    write_rows(folder, results.rows_of(epochs, devices, dataset))
    metrics = results.summarise(settings, devices, dataset, epochs, weights=b"")
    write_metrics(folder, {**metrics, **SPEED})
