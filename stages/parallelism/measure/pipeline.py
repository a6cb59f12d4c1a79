"""A pipeline (GPipe, Huang et al. 2019): each device has some of the layers."""

from concurrent.futures import Executor
from functools import partial
from itertools import groupby

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from lab.parallel.replicas import grad_of
from lab.parallel.workers import parallel_map
from stages.parallelism.measure.layers import Layered, own, through
from stages.parallelism.measure.pipeline_schedule import Slot, idle_share, schedule
from stages.parallelism.measure.step import Devices, Kind
from stages.parallelism.measure.wires import Wires

Passed = dict[tuple[int, int], Tensor]  # by device and micro-batch


class Pipeline:
    """Takes the gradient layer by layer over the devices, one micro-batch behind the other.

    Activations go forward from device to device and their gradients back. `idle` is that of devices
    that take equally long; `flop_of_parts` says how long LeNet's parts take.
    """

    def __init__(
        self, net: Layered, devices: Devices, pool: Executor, num_micro_batches: int = 1
    ) -> None:
        """Give each device its layers.

        Raises:
            ValueError: more devices than layers.
        """
        if len(devices) > len(net.params):
            raise ValueError(
                f"expected at most {len(net.params)} devices, a layer each, got {len(devices)}"
            )
        self.net, self.devices, self.pool = net, devices, pool
        self.parts = cut(len(net.params), len(devices))
        self.params = [
            [own(p, device) for layer in part for p in net.params[layer]]
            for part, device in zip(self.parts, devices, strict=True)
        ]
        self.num_micro_batches = num_micro_batches
        slots = schedule([1.0] * len(devices), num_micro_batches)
        self.idle = idle_share(slots)
        self.ticks = [list(same) for _, same in groupby(slots, lambda slot: slot.start)]

    def take_gradient(self, X: Tensor, y: Tensor, wires: Wires) -> Tensor:
        """Forward tick by tick, the devices of a tick side by side, then back the same way."""
        last = len(self.devices) - 1
        pieces = X.tensor_split(self.num_micro_batches)
        labels = y.to(self.devices[last]).tensor_split(self.num_micro_batches)
        inputs: Passed = {(0, i): piece.to(self.devices[0]) for i, piece in enumerate(pieces)}
        outputs: Passed = {}

        def forward(slot: Slot) -> None:
            device, i, *_ = slot
            with wires.keeping(device, self.params[device]):
                h = through(self.net, self.parts[device], inputs[device, i], self.params[device])
                if device == last:
                    h = F.cross_entropy(h, labels[i], reduction="sum")
            outputs[device, i] = h
            if device < last:
                sent = wires.send(h, device, device + 1, self.devices[device + 1], "forward")
                inputs[device + 1, i] = sent.requires_grad_()

        def backward(slot: Slot) -> None:
            device, i, *_ = slot
            grad = None
            if device < last:
                above = grad_of(inputs[device + 1, i])
                grad = wires.send(above, device + 1, device, self.devices[device], "backward")
            torch.autograd.backward(outputs[device, i], grad)

        for tick in self.ticks:
            parallel_map(self.pool, forward, tick)
        for tick in reversed(self.ticks):
            parallel_map(self.pool, backward, tick)
        return torch.stack([outputs[last, i] for i in range(self.num_micro_batches)]).sum().detach()

    def gradients(self) -> list[Tensor]:
        """Those of each device's layers."""
        return [grad_of(p) for part in self.params for p in part]


def in_parts(num_micro_batches: int) -> Kind:
    """A pipeline through which a batch goes in parts."""
    return partial(Pipeline, num_micro_batches=num_micro_batches)


def cut(num_layers: int, num_devices: int) -> list[list[int]]:
    """The layers of each device, as equal in number as can be."""
    return [part.tolist() for part in torch.arange(num_layers).tensor_split(num_devices)]


def flop_of_parts(net: Layered, num_devices: int) -> list[int]:
    """Each device's FLOP for the forward pass of an image, counted and not computed."""
    X, counted = torch.empty(1, 1, 28, 28, device="meta", dtype=net.params[0][0].dtype), []
    for part in cut(len(net.params), num_devices):
        with FlopCounterMode(display=False) as flop:
            X = through(net, part, X, [p.to("meta") for i in part for p in net.params[i]])
        counted.append(flop.get_total_flops())
    return counted
