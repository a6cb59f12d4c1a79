"""Made-up results of training runs, as the stage writes them."""

from collections.abc import Sequence
from pathlib import Path

from lab.core.files import CONDITIONS, write_json, write_rows
from lab.machine.devices import Devices
from lab.results import derived
from lab.training.loop import Epoch
from lab.training.run_params import RunParams
from stages.train import findings
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
    """Write a run's files, except its weights."""
    write_rows(folder, results.rows_of(epochs, 0, devices, dataset))
    conditions = results.conditions_of(settings, devices, dataset, weights=b"")
    write_json(folder / CONDITIONS, {**conditions, **SPEED})
    derived.write_metrics(folder, findings)
