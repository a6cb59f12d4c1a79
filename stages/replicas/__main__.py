"""Run the stage: `python -m stages.replicas`."""

import sys
from collections.abc import Sequence

import torch

from lab.core.exit_codes import run
from lab.core.files import REPORTS, Metrics, write_metrics, write_rows
from lab.core.params import load
from lab.data.datasets import dataset_name, read_fashion_mnist
from lab.data.images import LabelledImages, to_tensors
from lab.machine.devices import resolve
from lab.results.curves import Curve, rows_of
from stages.replicas.batch_norm import measure_batch_norm
from stages.replicas.names import (
    ALIASING,
    APART,
    BATCH_NORM_CHANGE,
    FROM_ONE_DEVICE,
    GRADIENT_CHANGE,
    IN_PLACE,
    REBINDING,
    WITH_BATCH_NORM,
    millionths,
)
from stages.replicas.params import Params
from stages.replicas.training_variants import measure_variants


def measure(params: Params, train_set: LabelledImages) -> list[Curve]:
    """Train every variant for some steps, then compare gradients with and without batch norm."""
    p, (images, labels) = params.replicas, train_set
    order = torch.arange(p.num_steps * p.batch_size) % len(labels)
    batches = [(images[rows], labels[rows]) for rows in order.split(p.batch_size)]
    few = slice(p.batch_norm_images)
    return [
        *measure_variants(p.num_devices, batches, params.seed),
        *measure_batch_norm(params.seed, images[few], labels[few]),
    ]


def summarise(curves: Sequence[Curve]) -> Metrics:
    """Where the variants end, and by how much batch norm changes the gradient of two devices."""
    ends = {(c.demo, c.series): float(c.y[-1]) for c in curves}
    [change] = [c for c in curves if (c.demo, c.series) == (GRADIENT_CHANGE, WITH_BATCH_NORM)]
    judged = [(variant, FROM_ONE_DEVICE) for variant in (IN_PLACE, REBINDING, ALIASING)]
    judged += [(variant, APART) for variant in (IN_PLACE, REBINDING)]
    return {
        millionths(variant, demo): round(1e6 * ends[demo, variant], 4) for variant, demo in judged
    } | {BATCH_NORM_CHANGE: round(100 * float(change.y[0]), 5)}


def main() -> None:
    """Measure and write rows and metrics."""
    params = load(Params)
    resolve(params.replicas.num_devices, params.devices)
    curves = measure(params, to_tensors(read_fashion_mnist("train")))
    write_rows(REPORTS / "replicas", rows_of(curves))
    write_metrics(REPORTS / "replicas", {"dataset": dataset_name(), **summarise(curves)})


if __name__ == "__main__":
    sys.exit(run(main))
