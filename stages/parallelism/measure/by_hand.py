"""Data, pipeline and tensor parallelism by hand (book 13.5).

Every kind places a net on devices, which compute the same gradient of a batch concurrently. Each
device has its own graph, as separate processes would; it receives what it needs from the others. A
CPU listed several times works as several devices.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lab.parallel.replicas import allreduce, grad_of, sgd
from lab.parallel.workers import parallel_map
from stages.parallelism.measure.names import DATA, PIPELINE, TENSOR

IMAGE_PIXELS, NUM_CLASSES = 784, 10

Layer = Callable[[Tensor, Tensor, Tensor], Tensor]  # of input, weights, biases
Share = tuple[Tensor, Tensor]  # of a layer's weights and biases
T = TypeVar("T")


class Layered(NamedTuple):
    """A net as a chain of layers, for images (n, 1, 28, 28).

    `params` are the weights and biases of each layer; `output_dims` are the dimensions of the
    weights along which output channels or units lie.
    """

    layers: Sequence[Layer]
    params: Sequence[Share]
    output_dims: Sequence[int]

    def forward(self, part: Sequence[int], X: Tensor, params: Sequence[Tensor]) -> Tensor:
        """Return the output of the layers `part`, given a device's own weights and biases."""
        for layer, W, b in zip(part, params[::2], params[1::2], strict=True):
            X = self.layers[layer](X, W, b)
        return X


class DeviceGroup:
    """Devices that compute concurrently and send to each other."""

    def __init__(self, devices: Sequence[torch.device], pool: Executor) -> None:
        self.devices, self.pool = devices, pool

    def each(self, work: Callable[..., T], on: Sequence[int], *columns: Sequence[Any]) -> list[T]:
        """Call `work` with each device number in `on` and its row of `columns`, concurrently."""
        return parallel_map(self.pool, work, on, *columns)

    def send(self, X: Tensor, source: int, target: int) -> Tensor:
        """Return X of device number `source` on number `target`, detached from the graph."""
        return X.detach() if source == target else X.detach().to(self.devices[target], copy=True)

    def allreduce(self, same: Sequence[Tensor]) -> None:
        """Replace the tensors, one per device, by their sum."""
        allreduce(same)


# --- the three kinds; each leaves the gradient in the parameters and returns the summed loss


def data_parallel_gradient(
    net: Layered, replicas: Sequence[Sequence[Tensor]], X: Tensor, y: Tensor, group: DeviceGroup
) -> Tensor:
    """Take the gradient of a share of the batch on each device, then all-reduce the gradients."""

    def gradient(device: int, X: Tensor, y: Tensor) -> Tensor:
        logits = net.forward(range(len(net.layers)), X, replicas[device])
        loss = F.cross_entropy(logits, y, reduction="sum")
        torch.autograd.backward(loss)
        return loss.detach()

    n = len(replicas)
    parts = zip(X.tensor_split(n), y.tensor_split(n), group.devices, strict=True)
    shards = [(X.to(device), y.to(device)) for X, y, device in parts]
    losses = group.each(gradient, range(n), *zip(*shards, strict=True))
    for same in zip(*replicas, strict=True):
        group.allreduce([grad_of(p) for p in same])
    return torch.stack([loss.to(group.devices[0]) for loss in losses]).sum()


def pipeline_gradient(
    net: Layered,
    parts: Sequence[Sequence[int]],
    params: Sequence[Sequence[Tensor]],
    X: Tensor,
    y: Tensor,
    group: DeviceGroup,
    num_micro_batches: int,
) -> Tensor:
    """Send successive micro-batches from device to device, then their gradients back."""
    n, m = len(parts), num_micro_batches
    labels = y.to(group.devices[-1]).tensor_split(m)
    inputs = {(0, i): piece.to(group.devices[0]) for i, piece in enumerate(X.tensor_split(m))}
    outputs: dict[tuple[int, int], Tensor] = {}  # by device and micro-batch, like the inputs

    def forward(device: int, i: int) -> None:
        h = net.forward(parts[device], inputs[device, i], params[device])
        if device == n - 1:
            outputs[device, i] = F.cross_entropy(h, labels[i], reduction="sum")
        else:
            outputs[device, i] = h
            inputs[device + 1, i] = group.send(h, device, device + 1).requires_grad_()

    def backward(device: int, i: int) -> None:
        grad = None
        if device < n - 1:
            grad = group.send(grad_of(inputs[device + 1, i]), device + 1, device)
        torch.autograd.backward(outputs[device, i], grad)

    ticks = [[(d, tick - d) for d in range(n) if 0 <= tick - d < m] for tick in range(n + m - 1)]
    for tick in ticks:
        group.each(forward, *zip(*tick, strict=True))
    for tick in reversed(ticks):
        group.each(backward, *zip(*tick, strict=True))
    return torch.stack([outputs[n - 1, i] for i in range(m)]).sum().detach()


def tensor_parallel_layer(
    layer: Layer, shares: Sequence[Share], inputs: Sequence[Tensor], group: DeviceGroup, ends: int
) -> tuple[list[Tensor], list[Tensor]]:
    """Return each device's share of the outputs; all-gather them on the first `ends` devices."""

    def compute(device: int) -> Tensor:
        return layer(inputs[device], *shares[device])

    def gather(target: int) -> Tensor:
        received = [group.send(h, source, target) for source, h in enumerate(outputs)]
        return torch.cat(received, 1).requires_grad_()

    outputs = group.each(compute, range(len(shares)))
    return outputs, group.each(gather, range(ends))


def back_through_layer(
    outputs: Sequence[Tensor], gathered: Sequence[Tensor], group: DeviceGroup
) -> None:
    """Send each share's gradients to its device, which adds them (a reduce-scatter)."""
    sizes = [h.shape[1] for h in outputs]
    grads = [grad_of(h).split(sizes, dim=1) for h in gathered]

    def backward(device: int) -> None:
        received = [group.send(grad[device], source, device) for source, grad in enumerate(grads)]
        torch.autograd.backward(outputs[device], torch.stack(received).sum(0))

    group.each(backward, range(len(outputs)))


def tensor_parallel_gradient(
    net: Layered, shares: Sequence[Sequence[Share]], X: Tensor, y: Tensor, group: DeviceGroup
) -> Tensor:
    """Go forward and back layer by layer; only the first device has the logits and the loss."""
    whole, passed = [X.to(device) for device in group.devices], []
    for i, layer in enumerate(net.layers):
        ends = len(whole) if i + 1 < len(net.layers) else 1
        passed.append(tensor_parallel_layer(layer, shares[i], whole, group, ends))
        _, whole = passed[-1]
    labels = y.to(group.devices[0])
    [loss] = group.each(lambda _: F.cross_entropy(whole[0], labels, reduction="sum"), [0])
    torch.autograd.backward(loss)
    for outputs, gathered in reversed(passed):
        back_through_layer(outputs, gathered, group)
    return loss.detach()


# --- nets on devices


class ParallelModel(Protocol):
    """A net on its devices; `params` has each device's parameters."""

    params: list[list[Tensor]]

    def take_gradient(self, X: Tensor, y: Tensor, group: DeviceGroup) -> Tensor:
        """Leave the gradient of a batch's summed loss in `params`; return the loss."""

    def gradients(self) -> list[Tensor]:
        """Return the gradients of the whole net, in the order of its parameters."""


Kind = Callable[[Layered, Sequence[torch.device]], ParallelModel]


def kinds(num_micro_batches: int) -> dict[str, Kind]:
    """Return the kinds of parallelism, the pipeline with `num_micro_batches`."""
    return {
        DATA: DataParallel,
        PIPELINE: partial(Pipeline, num_micro_batches=num_micro_batches),
        TENSOR: TensorParallel,
    }


def train(model: ParallelModel, X: Tensor, y: Tensor, lr: float, group: DeviceGroup) -> None:
    """Take a step of SGD, each device with its own parameters."""
    model.take_gradient(X, y, group)
    group.each(lambda i: sgd(model.params[i], lr, len(X)), range(len(model.params)))


class DataParallel:
    """Each device has a replica of the net."""

    def __init__(self, net: Layered, devices: Sequence[torch.device]) -> None:
        self.net = net
        self.params = [[local_param(p, d) for layer in net.params for p in layer] for d in devices]

    def take_gradient(self, X: Tensor, y: Tensor, group: DeviceGroup) -> Tensor:
        return data_parallel_gradient(self.net, self.params, X, y, group)

    def gradients(self) -> list[Tensor]:
        return [grad_of(p) for p in self.params[0]]


class Pipeline:
    """Each device has some of the layers (GPipe, Huang et al. 2019)."""

    def __init__(
        self, net: Layered, devices: Sequence[torch.device], num_micro_batches: int
    ) -> None:
        if len(devices) > len(net.params):
            raise ValueError(
                f"expected at most {len(net.params)} devices, a layer each, got {len(devices)}"
            )
        self.net, self.num_micro_batches = net, num_micro_batches
        self.parts = cut(len(net.params), len(devices))
        self.params = [
            [local_param(p, device) for layer in part for p in net.params[layer]]
            for part, device in zip(self.parts, devices, strict=True)
        ]

    def take_gradient(self, X: Tensor, y: Tensor, group: DeviceGroup) -> Tensor:
        return pipeline_gradient(
            self.net, self.parts, self.params, X, y, group, self.num_micro_batches
        )

    def gradients(self) -> list[Tensor]:
        return [grad_of(p) for part in self.params for p in part]


class TensorParallel:
    """Each device has a share of every layer's output channels or units."""

    def __init__(self, net: Layered, devices: Sequence[torch.device]) -> None:
        self.net = net
        self.shares = [
            _shares(W, b, dim, devices)
            for (W, b), dim in zip(net.params, net.output_dims, strict=True)
        ]
        self.params = [[p for layer in self.shares for p in layer[i]] for i in range(len(devices))]

    def take_gradient(self, X: Tensor, y: Tensor, group: DeviceGroup) -> Tensor:
        return tensor_parallel_gradient(self.net, self.shares, X, y, group)

    def gradients(self) -> list[Tensor]:
        first = self.shares[0][0][0].device
        return [
            torch.cat([grad_of(share[j]).to(first) for share in layer], dim * (j == 0))
            for layer, dim in zip(self.shares, self.net.output_dims, strict=True)
            for j in (0, 1)
        ]


def _shares(W: Tensor, b: Tensor, dim: int, devices: Sequence[torch.device]) -> list[Share]:
    """Split a layer over the devices, along dimension `dim` of its weights (the outputs)."""
    n = len(devices)
    parts = zip(W.tensor_split(n, dim), b.tensor_split(n), devices, strict=True)
    return [(local_param(W, device), local_param(b, device)) for W, b, device in parts]


def local_param(X: Tensor, device: torch.device) -> Tensor:
    """Return `device`'s own copy of a parameter, in memory that nothing else shares."""
    return X.to(device).clone(memory_format=torch.contiguous_format).requires_grad_()


def cut(num_layers: int, num_devices: int) -> list[list[int]]:
    """Return the layers of each device, as evenly as possible."""
    return [part.tolist() for part in torch.arange(num_layers).tensor_split(num_devices)]


# --- the nets


def lenet_layers(net: nn.Module) -> Layered:
    params = [p.detach() for p in net.parameters()]
    pairs = list(zip(params[::2], params[1::2], strict=True))
    return Layered((_convolution, _convolution, _dense, _output), pairs, (0, 0, 1, 1))


def dense_layers(units: int, generator: torch.Generator) -> Layered:
    """Return four dense layers, three of `units` units: many parameters, few activations."""
    widths = (IMAGE_PIXELS, units, units, units, NUM_CLASSES)
    params = [
        (torch.randn(n, m, generator=generator) * (2 / n) ** 0.5, torch.zeros(m))
        for n, m in pairwise(widths)
    ]
    return Layered((_dense, _dense, _dense, _output), params, (1, 1, 1, 1))


def _convolution(X: Tensor, W: Tensor, b: Tensor) -> Tensor:
    h = F.avg_pool2d(F.relu(F.conv2d(X, W, b), inplace=True), kernel_size=2)
    if h.requires_grad:
        h.register_hook(_channels_last)  # pooling's backward is slow with other layouts
    return h


def _channels_last(X: Tensor) -> Tensor:
    return X.contiguous(memory_format=torch.channels_last)


def _dense(X: Tensor, W: Tensor, b: Tensor) -> Tensor:
    return F.relu(X.flatten(start_dim=1) @ W + b)


def _output(X: Tensor, W: Tensor, b: Tensor) -> Tensor:
    return X @ W + b
