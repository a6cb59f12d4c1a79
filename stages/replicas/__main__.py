"""Run the stage: `python -m stages.replicas`."""

import sys
from collections.abc import Sequence

import numpy as np
import torch

from lab.core.files import REPORTS, Metrics, write_metrics, write_rows
from lab.core.params import load
from lab.core.process import run
from lab.data.datasets import dataset_name, read_fashion_mnist
from lab.data.images import LabelledImages, to_tensors
from lab.machine.allocator import disable_malloc_trim
from lab.machine.devices import resolve
from lab.machine.fresh_process import call_in_subprocess
from lab.machine.hardware import write_conditions
from lab.results.curves import Curve, line, rows_of
from stages.replicas.measure.accuracy import measure_accuracy
from stages.replicas.measure.batch_norm import measure_batch_norm
from stages.replicas.measure.names import (
    ALIASING,
    APART,
    BATCH_NORM_CHANGE,
    CELLS,
    EPOCHS,
    EVALUATING,
    FROM_ONE_DEVICE,
    GRADIENT_CHANGE,
    IN_PLACE,
    REBINDING,
    TRAIN_IMAGES,
    TWO_DEVICES,
    WITH_BATCH_NORM,
    WITHOUT_GPU,
    millionths,
)
from stages.replicas.measure.params import Params, ReplicaParams
from stages.replicas.measure.short_cells import evaluating_devices, measure_cells
from stages.replicas.measure.training_variants import measure_variants
from stages.replicas.measure.without_gpu import stops_without_gpu


def measure(params: Params, train_set: LabelledImages, test_set: LabelledImages) -> list[Curve]:
    """The notes' short cells, the variants step by step, batch norm, then whole trainings."""
    p, seed, (images, labels) = params.replicas, params.seed, train_set
    order = torch.arange(p.num_steps * p.batch_size) % len(labels)
    batches = [(images[rows], labels[rows]) for rows in order.split(p.batch_size)]
    return [
        *measure_cells(seed),
        *measure_variants(p.num_devices, batches, seed),
        *measure_batch_norm(p.batch_norm, p.num_devices, train_set, test_set, seed),
        *measure_accuracy(p.accuracy, p.num_devices, train_set, test_set, seed),
    ]


def summarise(curves: Sequence[Curve], params: ReplicaParams) -> Metrics:
    """Where the variants end, how batch norm changes the gradient, and how long LeNet trained."""
    ends = {(c.experiment, c.series): float(c.y[-1]) for c in curves}
    [change] = [c for c in curves if (c.experiment, c.series) == (GRADIENT_CHANGE, WITH_BATCH_NORM)]
    judged = [(variant, FROM_ONE_DEVICE) for variant in (IN_PLACE, REBINDING, ALIASING)]
    judged += [(variant, APART) for variant in (IN_PLACE, REBINDING)]
    return {
        millionths(variant, experiment): round(1e6 * ends[experiment, variant], 4)
        for variant, experiment in judged
    } | {
        BATCH_NORM_CHANGE: round(float(np.median(change.y)), 5),
        EPOCHS: params.accuracy.num_epochs,
        TRAIN_IMAGES: params.accuracy.train_images,
    }


def main() -> None:
    """Measure and write rows and metrics."""
    params = load(Params)
    disable_malloc_trim()
    devices = resolve(params.replicas.num_devices, params.devices)
    train_set, test_set = (to_tensors(read_fashion_mnist(half)) for half in ("train", "t10k"))
    stops = call_in_subprocess("running the notes' programs without a GPU", stops_without_gpu)
    curves = [
        *measure(params, train_set, test_set),
        line(CELLS, EVALUATING, [0], [evaluating_devices(dict.fromkeys(devices.devices[:2]))]),
        *(line(WITHOUT_GPU, name, [0], [not words]) for name, words in stops.items()),
    ]
    rows = [{**row, "remark": stops.get(str(row["variant"]), "")} for row in rows_of(curves)]
    about: Metrics = {
        "dataset": dataset_name(),
        "num_devices": params.replicas.num_devices,
        TWO_DEVICES: devices.kind,
    }
    write_rows(REPORTS / "replicas", rows)
    write_conditions(REPORTS / "replicas")
    write_metrics(REPORTS / "replicas", {**about, **summarise(curves, params.replicas)})


if __name__ == "__main__":
    sys.exit(run(main))
