"""Training LeNet over replicas: as the book does, and with three mistakes from the notes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector

from lab.nets.lenet import he_lenet_params
from lab.nets.models import MODELS, UInt8Input, to_float
from lab.parallel.replicas import (
    allreduce,
    forward_backward,
    rebinding_allreduce,
    replicate,
    sgd,
    split_batch,
    sum_gradients,
)
from lab.results.curves import Curve, line
from stages.replicas.measure.by_hand import CPU, step
from stages.replicas.measure.names import (
    ALIASING,
    APART,
    FROM_ONE_DEVICE,
    IN_PLACE,
    MEANS,
    ONE_STEP,
    REBINDING,
    SUMMED_PARAMETERS,
)

LR = 0.02
Batches = Sequence[tuple[Tensor, Tensor]]


def measure_variants(num_devices: int, batches: Batches, seed: int) -> Iterator[Curve]:
    """How far each variant is from one device, and its replicas from each other, by step.

    Summed parameters, which grow with every step, are compared after the first alone.

    They compute in float64. In float32 rounding turns a hidden unit on or off within tens of steps,
    after which also the book's replicas part from one device by more than rounding: on some
    processors and not on others.
    """
    start = lenet(seed).net.double()
    batches = [(to_float(X).double(), y) for X, y in batches]

    def replicas() -> list[nn.Module]:
        return [replicate(start, CPU) for _ in range(num_devices)]

    one, book, rebound = [replicate(start, CPU)], replicas(), replicas()
    shared, mean = replicate(start, CPU), replicate(start, CPU)
    variants: dict[str, tuple[Sequence[nn.Module], Iterator[None]]] = {
        IN_PLACE: (book, trained(book, batches, allreduce)),
        REBINDING: (rebound, trained(rebound, batches, rebinding_allreduce)),
        ALIASING: ([shared], trained_on_one_tensor(shared, num_devices, batches)),
        MEANS: ([mean], trained_on_means(mean, num_devices, batches)),
    }
    reference = trained(one, batches, allreduce)
    from_one: dict[str, list[float]] = {name: [] for name in variants}
    apart: dict[str, list[float]] = {name: [] for name in variants}
    for _ in batches:
        next(reference)
        for name, (nets, training) in variants.items():
            next(training)
            from_one[name].append(max(_apart(one[0], net) for net in nets))
            apart[name].append(max(_apart(nets[0], net) for net in nets))
    steps = np.arange(1, len(batches) + 1)
    for name in variants:
        yield line(FROM_ONE_DEVICE, name, steps, from_one[name])
        yield line(APART, name, steps, apart[name])
    summed = off_by_summed_parameters(start, num_devices, *batches[0])
    yield line(ONE_STEP, SUMMED_PARAMETERS, [1], [100 * summed])


def lenet(seed: int) -> UInt8Input:
    """LeNet with weights that learn at once: from the notes' 0.01 all variants look alike."""
    generator = torch.Generator().manual_seed(seed)
    net = MODELS["lenet"](generator)
    with torch.no_grad():
        for p, scaled in zip(net.parameters(), he_lenet_params(generator), strict=True):
            p.copy_(scaled)
    return UInt8Input(net)


def trained(
    nets: Sequence[nn.Module], batches: Batches, reduce: Callable[[list[Tensor]], None]
) -> Iterator[None]:
    """Take a step on each batch by hand, each replica on its shard."""
    for X, y in batches:
        step(nets, X, y, LR, partial(sum_gradients, allreduce=reduce))
        yield


def trained_on_one_tensor(net: nn.Module, num_devices: int, batches: Batches) -> Iterator[None]:
    """Take the steps of `num_devices` replicas that are one and the same net.

    All shards add to one gradient, which the all-reduce then adds to itself; the first update uses
    it up.
    """
    for X, y in batches:
        for X_shard, y_shard in zip(*split_batch(X, y, [CPU] * num_devices), strict=True):
            forward_backward(net, X_shard, y_shard)
        sum_gradients([net] * num_devices)
        sgd(net.parameters(), LR, len(X))
        yield


def trained_on_means(net: nn.Module, num_devices: int, batches: Batches) -> Iterator[None]:
    """Take steps on the average of the shards' mean losses, as a plain data-parallel wrapper."""
    for X, y in batches:
        for X_shard, y_shard in zip(*split_batch(X, y, [CPU] * num_devices), strict=True):
            (F.cross_entropy(net(X_shard), y_shard) / num_devices).backward()
        sgd(net.parameters(), LR, 1)
        yield


def step_and_sum_parameters(nets: Sequence[nn.Module], X: Tensor, y: Tensor) -> None:
    """Take each replica's step by its own shard's gradient, then sum the parameters."""
    step(nets, X, y, LR, lambda nets: None)
    with torch.no_grad():
        for same in zip(*(net.parameters() for net in nets), strict=True):
            allreduce(same)


def off_by_summed_parameters(start: nn.Module, num_devices: int, X: Tensor, y: Tensor) -> float:
    """How far such a step ends from one device's weights, relative to the length of these."""
    one, nets = replicate(start, CPU), [replicate(start, CPU) for _ in range(num_devices)]
    step([one], X, y, LR)
    step_and_sum_parameters(nets, X, y)
    summed, right = (parameters_to_vector(net.parameters()).detach() for net in (nets[0], one))
    return float((summed - right).norm() / right.norm())


def distance(some: Iterable[Tensor], others: Iterable[Tensor]) -> float:
    """The largest difference of any number in two lists of tensors."""
    return max(float((p - q).detach().abs().max()) for p, q in zip(some, others, strict=True))


def _apart(net: nn.Module, other: nn.Module) -> float:
    return distance(net.parameters(), other.parameters())
