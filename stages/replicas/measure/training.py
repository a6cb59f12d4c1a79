"""Training LeNet on replicas: as in the book, and with the notes' mistakes.

All variants take the same batches. The notes' rebinding all-reduce and the in-place one are in
lab.parallel.replicas. In rows.csv x is the training step.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import product

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector

from lab.data.images import Images, LabelledImages
from lab.data.order import epoch_order
from lab.machine.limits import usable_cores
from lab.nets.lenet import he_lenet_params
from lab.nets.models import MODELS, UInt8Input, to_float
from lab.parallel.replicas import (
    Collective,
    allreduce,
    forward_backward,
    rebinding_allreduce,
    replicate,
    sgd,
    split_batch,
    sum_gradients,
)
from lab.parallel.workers import map_with_progress, thread_pool
from lab.results.measurements import Measurement, line
from lab.training.short_training import accuracy_or_chance
from stages.replicas.measure.names import ALIASING, IN_PLACE, MEANS, ONE_DEVICE, REBINDING
from stages.replicas.measure.params import AccuracyParams

CPU = torch.device("cpu")
LR = 0.02  # for the comparison step by step
NOTES_BATCH, NOTES_LR = 256, 0.2
Batches = Sequence[tuple[Tensor, Tensor]]
Combine = Callable[[Sequence[nn.Module]], None]  # turns the gradients into those the replicas use


def step(
    nets: Sequence[nn.Module], X: Tensor, y: Tensor, lr: float, combine: Combine = sum_gradients
) -> None:
    """Take a step of SGD, the replicas sequentially, each on its shard of the batch."""
    for net, X_shard, y_shard in zip(nets, *split_batch(X, y, [CPU] * len(nets)), strict=True):
        forward_backward(net, X_shard, y_shard)
    combine(nets)
    for net in nets:
        sgd(net.parameters(), lr, len(X))


def step_of_one_tensor(net: nn.Module, num_devices: int, X: Tensor, y: Tensor) -> None:
    """Take the step of `num_devices` replicas that are one and the same net.

    All shards add to one gradient, which the all-reduce then adds to itself. The first update
    consumes it.
    """
    for X_shard, y_shard in zip(*split_batch(X, y, [CPU] * num_devices), strict=True):
        forward_backward(net, X_shard, y_shard)
    sum_gradients([net] * num_devices)
    sgd(net.parameters(), LR, len(X))


def step_of_means(net: nn.Module, num_devices: int, X: Tensor, y: Tensor) -> None:
    """Take a step on the average of the shards' mean losses, like a plain data-parallel wrapper.

    An image in a smaller shard counts more.
    """
    for X_shard, y_shard in zip(*split_batch(X, y, [CPU] * num_devices), strict=True):
        (F.cross_entropy(net(X_shard), y_shard) / num_devices).backward()
    sgd(net.parameters(), LR, 1)


def step_and_sum_parameters(nets: Sequence[nn.Module], X: Tensor, y: Tensor) -> None:
    """Step each replica by its own shard's gradient, then sum the parameters."""
    step(nets, X, y, LR, lambda nets: None)
    with torch.no_grad():
        for same in zip(*(net.parameters() for net in nets), strict=True):
            allreduce(same)


# --- step by step


def measure_variants(num_devices: int, batches: Batches, seed: int) -> Iterator[Measurement]:
    """Yield each variant's distance from one device, and that between its replicas, by step.

    We compute in float64. In float32, rounding switches a hidden unit on or off within tens of
    steps on some CPUs, and then even the book's replicas differ from one device by more than
    rounding.
    """
    start = lenet(seed).net.double()
    batches = [(to_float(X).double(), y) for X, y in batches]

    def replicas() -> list[nn.Module]:
        return [replicate(start, CPU) for _ in range(num_devices)]

    def by_hand(nets: Sequence[nn.Module], reduce: Collective, X: Tensor, y: Tensor) -> None:
        step(nets, X, y, LR, partial(sum_gradients, allreduce=reduce))

    one, shared, mean = (replicate(start, CPU) for _ in range(3))
    book, rebound = replicas(), replicas()
    variants: dict[str, tuple[Sequence[nn.Module], Callable[[Tensor, Tensor], None]]] = {
        IN_PLACE: (book, partial(by_hand, book, allreduce)),
        REBINDING: (rebound, partial(by_hand, rebound, rebinding_allreduce)),
        ALIASING: ([shared], partial(step_of_one_tensor, shared, num_devices)),
        MEANS: ([mean], partial(step_of_means, mean, num_devices)),
    }
    from_one: dict[str, list[float]] = {name: [] for name in variants}
    apart: dict[str, list[float]] = {name: [] for name in variants}
    steps: list[Callable[[Tensor, Tensor], None]] = [partial(by_hand, [one], allreduce)]
    steps += [take_step for _, take_step in variants.values()]
    with thread_pool(usable_cores(), 1) as pool:
        for X, y in batches:
            for done in [pool.submit(take_step, X, y) for take_step in steps]:
                done.result()
            for name, (nets, _) in variants.items():
                from_one[name].append(max(_apart(one, net) for net in nets))
                apart[name].append(max(_apart(nets[0], net) for net in nets))
    numbers = range(1, len(batches) + 1)
    for name in variants:
        yield from line("from_one_device", name, numbers, from_one[name])
        yield from line("apart", name, numbers, apart[name])
    # summed parameters grow with every step, so we compare only the first
    off = 100 * off_by_summed_parameters(start, num_devices, *batches[0])
    yield Measurement("one_step", "parameters summed for gradients", 1, (off,))


def lenet(seed: int) -> UInt8Input:
    """Return LeNet with He initialization; with the notes' 0.01, all variants look alike."""
    generator = torch.Generator().manual_seed(seed)
    net = MODELS["lenet"](generator)
    with torch.no_grad():
        for p, scaled in zip(net.parameters(), he_lenet_params(generator), strict=True):
            p.copy_(scaled)
    return UInt8Input(net)


def off_by_summed_parameters(start: nn.Module, num_devices: int, X: Tensor, y: Tensor) -> float:
    """Return how far step_and_sum_parameters ends from one device's weights, relative to these."""
    one, nets = replicate(start, CPU), [replicate(start, CPU) for _ in range(num_devices)]
    step([one], X, y, LR)
    step_and_sum_parameters(nets, X, y)
    summed, right = (parameters_to_vector(net.parameters()).detach() for net in (nets[0], one))
    return float((summed - right).norm() / right.norm())


def distance(some: Iterable[Tensor], others: Iterable[Tensor]) -> float:
    """Return the largest elementwise difference of two lists of tensors."""
    return max(float((p - q).detach().abs().max()) for p, q in zip(some, others, strict=True))


def _apart(net: nn.Module, other: nn.Module) -> float:
    return distance(net.parameters(), other.parameters())


# --- whole trainings


def measure_accuracy(
    params: AccuracyParams,
    num_devices: int,
    train_set: LabelledImages,
    test_set: LabelledImages,
    seed: int,
) -> Iterator[Measurement]:
    """Yield each replica's test accuracy (percent) after the notes' recipe, by seed.

    The notes test only the first replica.
    """
    images, labels = (each[: params.train_images] for each in train_set)
    tested = Images(*test_set).first(params.test_images)
    variants = {
        ONE_DEVICE: (1, allreduce),
        IN_PLACE: (num_devices, allreduce),
        REBINDING: (num_devices, rebinding_allreduce),
    }

    def run(job: tuple[str, int]) -> list[float]:
        variant, seed = job
        count, reduce = variants[variant]
        nets = [  # the same seed makes them replicas
            UInt8Input(MODELS["lenet"](torch.Generator().manual_seed(seed))) for _ in range(count)
        ]
        combine = partial(sum_gradients, allreduce=reduce)
        for epoch in range(1, params.num_epochs + 1):
            for rows in epoch_order(len(labels), seed, epoch).split(NOTES_BATCH):
                step(nets, images[rows], labels[rows], NOTES_LR, combine)
        return [100 * accuracy_or_chance(net, tested) for net in nets]

    seeds = range(seed, seed + params.num_seeds)
    found = map_with_progress("accuracy", run, product(variants, seeds), CPU)
    for name, (count, _) in variants.items():
        for i in range(count):
            percent = tuple(found[name, s][i] for s in seeds)
            yield Measurement("accuracy", name, 0, percent, columns={"replica": i + 1})
