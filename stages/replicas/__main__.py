"""Run the stage: `python -m stages.replicas`."""

import sys
from collections.abc import Sequence
from statistics import median

import torch

from lab.core.files import Metrics
from lab.core.params import load
from lab.core.process import run
from lab.data.datasets import dataset_name, read_fashion_mnist
from lab.data.images import LabelledImages, to_tensors
from lab.machine.allocator import disable_malloc_trim
from lab.machine.devices import Devices, resolve
from lab.machine.fresh_process import call_in_subprocess
from lab.results.measurements import Measurement
from lab.timing.runner import write_results
from stages.replicas.measure.batch_norm import measure_batch_norm
from stages.replicas.measure.names import ALIASING, IN_PLACE, REBINDING, WITH_BATCH_NORM, millionths
from stages.replicas.measure.notes_cells import measure_cells, measure_without_gpu
from stages.replicas.measure.params import Params, ReplicaParams
from stages.replicas.measure.training import measure_accuracy, measure_variants


def measure(
    params: Params, devices: Devices, train_set: LabelledImages, test_set: LabelledImages
) -> list[Measurement]:
    """The notes' short cells, the variants step by step, batch norm, whole trainings if asked."""
    p, seed, (images, labels) = params.replicas, params.seed, train_set
    order = torch.arange(p.num_steps * p.batch_size) % len(labels)
    batches = [(images[rows], labels[rows]) for rows in order.split(p.batch_size)]
    measured = [
        *measure_cells(seed, devices.devices[:2], devices.kind),
        *measure_variants(p.num_devices, batches, seed),
        *measure_batch_norm(p.batch_norm, p.num_devices, train_set, test_set, seed),
    ]
    if p.accuracy.num_seeds:
        measured += measure_accuracy(p.accuracy, p.num_devices, train_set, test_set, seed)
    return measured


def summarise(measured: Sequence[Measurement], params: ReplicaParams) -> Metrics:
    """Where the variants end, how batch norm changes the gradient, and how long LeNet trained."""
    ends = {(m.experiment, m.variant): m.values for m in measured}
    judged = [(variant, "from_one_device") for variant in (IN_PLACE, REBINDING, ALIASING)]
    judged += [(variant, "apart") for variant in (IN_PLACE, REBINDING)]
    return {
        **{
            millionths(variant, experiment): float(f"{1e6 * ends[experiment, variant][0]:.9g}")
            for variant, experiment in judged
        },
        "batch_norm_gradient_change_percent": round(
            median(ends["gradient_change", WITH_BATCH_NORM]), 5
        ),
        "accuracy_epochs": params.accuracy.num_epochs if params.accuracy.num_seeds else 0,
        "accuracy_train_images": params.accuracy.train_images,
        "gradient_images_per_device": params.batch_norm.gradient_images_per_device,
    }


def main() -> None:
    params = load(Params)
    disable_malloc_trim()
    devices = resolve(params.replicas.num_devices, params.devices)
    train_set, test_set = (to_tensors(read_fashion_mnist(half)) for half in ("train", "t10k"))
    programs = call_in_subprocess("running the notes' programs without a GPU", measure_without_gpu)
    measured = [*measure(params, devices, train_set, test_set), *programs]
    about: Metrics = {
        "dataset": dataset_name(),
        "num_devices": params.replicas.num_devices,
        "two_devices": devices.kind,  # on which an accuracy is computed; all else is the CPU's
    }
    found = {**about, **summarise(measured, params.replicas)}
    compared = (millionths(REBINDING, "from_one_device"), "batch_norm_gradient_change_percent")
    write_results("replicas", measured, found, compared)


if __name__ == "__main__":
    sys.exit(run(main))
