"""Run the stage: `python -m stages.replicas`."""

import sys

import torch

from lab.core.files import Metrics
from lab.core.params import load
from lab.core.process import run
from lab.data.datasets import dataset_name, read_fashion_mnist
from lab.data.images import LabelledImages, to_tensors
from lab.machine.allocator import disable_malloc_trim
from lab.machine.devices import Devices, resolve
from lab.machine.fresh_process import call_in_subprocess
from lab.results.measurements import Measurement, skip
from lab.results.reasons import NEEDS_GPU, Reason
from lab.timing.runner import write_results
from stages.replicas import findings
from stages.replicas.measure.batch_norm import measure_batch_norm
from stages.replicas.measure.names import PROGRAMS
from stages.replicas.measure.notes_cells import measure_cells, measure_programs
from stages.replicas.measure.params import Params, ReplicaParams
from stages.replicas.measure.training import measure_accuracy, measure_variants


def measure(
    params: Params, devices: Devices, train_set: LabelledImages, test_set: LabelledImages
) -> list[Measurement]:
    """Measure the notes' cells, the variants step by step, batch norm, and accuracies if asked."""
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


def recipe(params: ReplicaParams) -> Metrics:
    """Return the settings of LeNet's trainings, without and with batch norm."""
    return {
        "accuracy_epochs": params.accuracy.num_epochs if params.accuracy.num_seeds else 0,
        "accuracy_train_images": params.accuracy.train_images,
        "norm_steps": params.batch_norm.num_steps,
    }


def main() -> None:
    params = load(Params)
    disable_malloc_trim()
    devices = resolve(params.replicas.num_devices, params.devices)
    train_set, test_set = (to_tensors(read_fashion_mnist(half)) for half in ("train", "t10k"))
    doing, no_gpu, one_gpu = "running the notes' programs", "without_gpu", "with_one_gpu"
    if devices.devices[0].type == "cuda":
        programs = call_in_subprocess(doing, measure_programs, no_gpu, "")
        programs += call_in_subprocess(doing, measure_programs, one_gpu, "0")
    else:
        programs = measure_programs(no_gpu, "")
        programs += [skip(one_gpu, name, Reason(NEEDS_GPU), devices.kind) for name in PROGRAMS]
    measured = [*measure(params, devices, train_set, test_set), *programs]
    conditions: Metrics = {
        "dataset": dataset_name(),
        "num_devices": params.replicas.num_devices,
        "two_devices": devices.kind,  # an accuracy is computed on these; all else is on the CPU
        **recipe(params.replicas),
    }
    write_results("replicas", measured, conditions, findings)


if __name__ == "__main__":
    sys.exit(run(main))
