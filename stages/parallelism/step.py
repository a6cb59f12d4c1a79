"""A step of any kind of parallelism: the gradient that it computes, and what that costs.

Every kind takes the notes' LeNet and a batch to a list of devices and computes the same gradient.
Each device has a graph of its own, as a process of its own would; what it needs of another is sent
through a `ByteCounter`. A CPU listed several times works as several devices.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from stages.parallelism.byte_counter import Memory, Phase

Devices = Sequence[torch.device]


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
    idle: float = 0.0


Kind = Callable[[nn.Module, Tensor, Tensor, Devices], Step]


def difference(step: Step, reference: Step) -> float:
    """The largest difference of a gradient, relative to the reference's largest entry."""
    pairs = zip(step.gradients, reference.gradients, strict=True)
    return max(float((g.cpu() - r.cpu()).abs().max() / r.abs().max().cpu()) for g, r in pairs)
