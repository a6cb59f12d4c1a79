"""A step of any kind of parallelism: the gradient that it computes, and what that costs.

Every kind places a net on a list of devices and computes the same gradient of a batch, the devices
side by side. Each has a graph of its own, as a process of its own would; what it needs of another
is sent through `Wires`. A CPU listed several times works as several devices.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn

from lab.parallel.replicas import sgd
from lab.parallel.workers import parallel_map, thread_pool
from stages.parallelism.measure.layers import Layered, lenet_layers
from stages.parallelism.measure.wires import ByteCounter, Memory, Phase, Wires

Devices = Sequence[torch.device]


class Placed(Protocol):
    """A net on its devices: `params` are each one's own, `idle` their share of time in waiting."""

    params: list[list[Tensor]]
    idle: float

    def take_gradient(self, X: Tensor, y: Tensor, wires: Wires) -> Tensor:
        """Leave the gradient of a batch's summed loss in `params`; return that loss."""

    def gradients(self) -> list[Tensor]:
        """The gradients, put together again in the order of the net's parameters."""


Kind = Callable[[Layered, Devices, Executor], Placed]


@dataclass(frozen=True)
class Step:
    """The summed loss of a batch, each parameter's gradient, and the costs.

    `moved` are the bytes between devices by phase (not counted: the batch on its way to them),
    `memory` is each device's, `idle` the share of the devices' time in which they wait for each
    other.
    """

    loss: float
    gradients: list[Tensor]
    moved: dict[Phase, int]
    memory: list[Memory]
    idle: float


def counted_step(
    kind: Kind, net: Layered | nn.Module, X: Tensor, y: Tensor, devices: Devices
) -> Step:
    """The gradient of a batch, and what it takes to compute it."""
    layered = lenet_layers(net) if isinstance(net, nn.Module) else net
    counter = ByteCounter(devices)
    with thread_pool(len(devices), torch.get_num_threads()) as pool:
        placed = kind(layered, devices, pool)
        loss = placed.take_gradient(X, y, counter)
    memory = counter.memory(placed.params)
    return Step(loss.item(), placed.gradients(), counter.moved, memory, placed.idle)


def train(placed: Placed, X: Tensor, y: Tensor, lr: float, pool: Executor) -> None:
    """Take a step of SGD, each device with its own parameters; nothing is counted."""
    placed.take_gradient(X, y, Wires())
    parallel_map(pool, sgd, placed.params, [lr] * len(placed.params), [len(X)] * len(placed.params))


def difference(step: Step, reference: Step) -> float:
    """The largest difference of a gradient, relative to the reference's largest entry."""
    pairs = zip(step.gradients, reference.gradients, strict=True)
    return max(float((g.cpu() - r.cpu()).abs().max() / r.abs().max().cpu()) for g, r in pairs)
