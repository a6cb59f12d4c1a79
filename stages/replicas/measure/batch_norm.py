"""Batch norm on several devices: changes in the gradient, the accuracy and the replicas.

Each device takes mean and variance from its own share of the batch. Synchronised batch norm takes
them from the whole batch, which gives one device's gradient: that variant is `one device`.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import product

import torch
from torch import Tensor, nn

from lab.data.images import Images, LabelledImages
from lab.data.order import shuffled
from lab.nets.models import MODELS, UInt8Input
from lab.parallel.replicas import (
    allreduce,
    forward_backward,
    grad_of,
    replicate,
    split_batch,
    sum_gradients,
)
from lab.parallel.workers import map_with_progress
from lab.results.measurements import Measurement, by_seed
from lab.training.short_training import accuracy_or_chance
from stages.replicas.measure.names import ONE_DEVICE, WITH_BATCH_NORM, WITHOUT_BATCH_NORM
from stages.replicas.measure.params import BatchNormParams
from stages.replicas.measure.training import CPU, Combine, distance, lenet, step

LR = 0.1
FOUR_STEPS_IMAGES, FOUR_STEPS_COUNT = 4, 2  # images per device, steps


def measure_batch_norm(
    params: BatchNormParams,
    num_devices: int,
    train_set: LabelledImages,
    test_set: LabelledImages,
    seed: int,
) -> Iterator[Measurement]:
    """Measure gradient changes and accuracies by seed, and ResNet-18's replicas after two steps."""
    seeds = range(seed, seed + params.num_seeds)
    yield from _gradient_changes(params, num_devices, train_set, seeds)
    if params.num_steps:
        yield from _accuracies(params, num_devices, train_set, test_set, seeds)
    yield _four_steps(num_devices, train_set, seed)


# --- the gradient


def _gradient_changes(
    params: BatchNormParams, num_devices: int, train_set: LabelledImages, seeds: Sequence[int]
) -> Iterator[Measurement]:
    """Yield the gradient's change by splitting a batch, in % of its norm; x: images per device."""
    nets: dict[str, Callable[[int], nn.Module]] = {
        WITH_BATCH_NORM: lambda seed: UInt8Input(MODELS["resnet18"](_generator(seed))),
        WITHOUT_BATCH_NORM: lenet,
    }

    def run(job: tuple[str, int, int]) -> float:
        name, images, seed = job
        rows = _order(train_set, seed)[: num_devices * images]
        net, X, y = nets[name](seed), train_set[0][rows], train_set[1][rows]
        whole = gradient(net, X, y, 1)
        return 100 * float((gradient(net, X, y, num_devices) - whole).norm() / whole.norm())

    counts = params.gradient_images_per_device
    found = map_with_progress("gradient_change", run, product(nets, counts, seeds), CPU)
    for name, images in product(nets, counts):
        yield by_seed("gradient_change", name, [found[name, images, s] for s in seeds], images)


def gradient(net: nn.Module, X: Tensor, y: Tensor, num_devices: int) -> Tensor:
    """Return the summed gradient of a batch split over the devices, as one vector (float64)."""
    nets = [replicate(net, CPU) for _ in range(num_devices)]
    for replica, X_shard, y_shard in zip(
        nets, *split_batch(X, y, [CPU] * num_devices), strict=True
    ):
        forward_backward(replica, X_shard, y_shard)
    sum_gradients(nets)
    return torch.cat([grad_of(p).double().flatten() for p in nets[0].parameters()])


# --- the accuracy


def lenet_with_batch_norm(seed: int) -> UInt8Input:
    """Return LeNet with batch norm after each layer but the last (book 8.5.4), He-initialized."""
    net = nn.Sequential(
        nn.Conv2d(1, 20, 3),
        nn.BatchNorm2d(20),
        nn.ReLU(),
        nn.AvgPool2d(2),
        nn.Conv2d(20, 50, 5),
        nn.BatchNorm2d(50),
        nn.ReLU(),
        nn.AvgPool2d(2),
        nn.Flatten(),
        nn.Linear(800, 128),
        nn.BatchNorm1d(128),
        nn.ReLU(),
        nn.Linear(128, 10),
    )
    generator = _generator(seed)
    for layer in net:
        if isinstance(layer, nn.Conv2d | nn.Linear):
            nn.init.kaiming_normal_(layer.weight, generator=generator)
            assert layer.bias is not None  # noqa: S101
            nn.init.zeros_(layer.bias)
    return UInt8Input(net)


def sum_all_but_norms(nets: Sequence[nn.Module]) -> None:
    """All-reduce every gradient but batch norm's, which each device keeps for itself.

    Batch norm's gradients, each of one device's images, are multiplied by the number of devices,
    since the rate is divided by the whole batch.
    """
    for layers in zip(*(net.modules() for net in nets), strict=True):
        norm = isinstance(layers[0], nn.BatchNorm1d | nn.BatchNorm2d)
        for same in zip(*(layer.parameters(recurse=False) for layer in layers), strict=True):
            if not norm:
                allreduce([grad_of(p) for p in same])
                continue
            for p in same:
                grad_of(p).mul_(len(nets))


def _accuracies(
    params: BatchNormParams,
    num_devices: int,
    train_set: LabelledImages,
    test_set: LabelledImages,
    seeds: Sequence[int],
) -> Iterator[Measurement]:
    """Yield the first device's accuracy, as in the notes; each variant has the same batches."""
    variants: dict[str, tuple[int, Combine]] = {
        ONE_DEVICE: (1, sum_gradients),
        "several devices, as they are": (num_devices, sum_gradients),
        "several devices, batch norm of their own": (num_devices, sum_all_but_norms),
    }
    tested = Images(*test_set).first(params.test_images)
    batch_size = num_devices * params.images_per_device

    def run(job: tuple[str, int]) -> float:
        variant, seed = job
        count, combine = variants[variant]
        nets = [lenet_with_batch_norm(seed) for _ in range(count)]
        order = _order(train_set, seed)
        for i in range(params.num_steps):
            rows = order[torch.arange(i * batch_size, (i + 1) * batch_size) % len(order)]
            step(nets, train_set[0][rows], train_set[1][rows], LR, combine)
        return 100 * accuracy_or_chance(nets[0], tested)

    found = map_with_progress("norm_accuracy", run, product(variants, seeds), CPU)
    for variant in variants:
        yield by_seed("norm_accuracy", variant, [found[variant, s] for s in seeds])


def _order(train_set: LabelledImages, seed: int) -> Tensor:
    return shuffled(len(train_set[1]), _generator(seed))


def _generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


# --- the notes' four steps


def _four_steps(num_devices: int, train_set: LabelledImages, seed: int) -> Measurement:
    """Measure ResNet-18's replicas after only the notes' four steps: their running statistics."""
    nets = [UInt8Input(MODELS["resnet18"](_generator(seed))) for _ in range(num_devices)]
    batch_size = FOUR_STEPS_IMAGES * num_devices
    for rows in torch.arange(FOUR_STEPS_COUNT * batch_size).split(batch_size):
        some = rows % len(train_set[1])
        step(nets, train_set[0][some], train_set[1][some], LR)
    statistics = max(distance(_statistics(nets[0]), _statistics(net)) for net in nets)
    return Measurement(
        "four_steps", "running statistics", FOUR_STEPS_COUNT, (1e6 * statistics,), "millionths"
    )


def _statistics(net: nn.Module) -> list[Tensor]:
    return [b for b in net.buffers() if b.is_floating_point()]
