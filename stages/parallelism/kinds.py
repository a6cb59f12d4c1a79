"""Kinds of parallelism, and what each of them moves and keeps (book 13.5, 13.7).

The notes' LeNet on a list of devices, in ways that compute one and the same gradient: *data*
parallel, each device with the whole net and a share of the batch; a *pipeline*, each with some of
the layers (GPipe, Huang et al. 2019); *tensor* parallel, each with a share of every layer's output
channels or units. Each device has a graph of its own, as a process of its own would; what it needs
of another is sent through a `Ledger`, which counts the bytes. A CPU listed several times works as
several devices.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from lab.parallel.replicas import allreduce, forward_backward, grad_of, replicate, split_batch

Phase = Literal["forward", "backward", "gradients"]
Devices = Sequence[torch.device]


@dataclass(frozen=True)
class Memory:
    """Bytes that a device holds at the end of the forward pass and needs for a step."""

    params: int
    gradients: int
    # what autograd keeps for the backward pass, the input and the loss's own included
    activations: int

    @property
    def total(self) -> int:
        """All three."""
        return self.params + self.gradients + self.activations


@dataclass(frozen=True)
class Step:
    """What a batch gives and takes: the summed loss, each parameter's gradient, and the costs.

    `moved` are the bytes between devices by phase (not counted: the batch on its way to them),
    `memory` is each device's, `idle` the share of the devices' time in which they wait for each
    other.
    """

    loss: float
    gradients: list[Tensor]
    moved: dict[Phase, int]
    memory: list[Memory]
    idle: float = 0.0


class Ledger:
    """Counts, while a step runs, what devices send each other and what they keep for the backward
    pass.
    """

    def __init__(self, devices: Devices) -> None:
        """Start at nothing."""
        self.devices = devices
        self.moved: dict[Phase, int] = {"forward": 0, "backward": 0, "gradients": 0}
        self._kept: list[dict[int, int]] = [{} for _ in devices]

    def send(self, X: Tensor, source: int, target: int, phase: Phase) -> Tensor:
        """Return X of device `source` on device `target`, cut off from the graph: a copy, where
        these are two.
        """
        if source == target:
            return X.detach()
        self.moved[phase] += X.nbytes
        return X.detach().to(self.devices[target], copy=True)

    @contextmanager
    def exchange(self, data: Sequence[Tensor]) -> Iterator[None]:
        """Count what a collective takes from one device's tensor to another's, `data` being one of
        each.
        """
        with _Crossings(data) as crossings:
            yield
        self.moved["gradients"] += crossings.num_bytes

    def keeping(self, device: int, params: Iterable[Tensor]) -> saved_tensors_hooks:
        """Count what autograd keeps on `device`, each memory once, parameters apart."""
        own = {p.data_ptr() for p in params}

        def pack(X: Tensor) -> Tensor:
            if X.data_ptr() not in own:
                self._kept[device][X.data_ptr()] = X.nbytes
            return X

        return saved_tensors_hooks(pack, lambda X: X)

    def memory(self, device: int, params: Sequence[Tensor]) -> Memory:
        """Return what `device` holds, whose parameters have their gradients by now."""
        gradients = sum(grad_of(p).nbytes for p in params)
        return Memory(sum(p.nbytes for p in params), gradients, sum(self._kept[device].values()))


class _Crossings(TorchDispatchMode):
    """Adds up the bytes that operations take from other devices' tensors than their first
    argument's.

    A result belongs to the device of its first argument, also where `.to` has moved it: it counts
    when it is used.
    """

    def __init__(self, data: Sequence[Tensor]) -> None:
        super().__init__()
        self.num_bytes = 0
        self._place = {_address(X): i for i, X in enumerate(data)}
        self._results: list[Tensor] = []  # alive, so that no address is given to another tensor

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        first, *others = [X for X in args if isinstance(X, Tensor)]
        here = self._place[_address(first)]
        self.num_bytes += sum(X.nbytes for X in others if self._place[_address(X)] != here)
        self._place.setdefault(_address(result), here)
        self._results.append(result)
        return result


def _address(X: Tensor) -> int:
    return X.untyped_storage().data_ptr()


def data_parallel(net: nn.Module, X: Tensor, y: Tensor, devices: Devices) -> Step:
    """Take the gradient as section 13.5 does: a share of the batch through each replica, then the
    sum.
    """
    ledger, nets = Ledger(devices), [replicate(net, device) for device in devices]
    losses = []
    for i, (replica, X_shard, y_shard) in enumerate(
        zip(nets, *split_batch(X, y, devices), strict=True)
    ):
        with ledger.keeping(i, replica.parameters()):
            losses.append(forward_backward(replica, X_shard, y_shard))
    for same in zip(*(replica.parameters() for replica in nets), strict=True):
        gradients = [grad_of(p) for p in same]
        with ledger.exchange(gradients):
            allreduce(gradients)
    memory = [ledger.memory(i, list(replica.parameters())) for i, replica in enumerate(nets)]
    return Step(
        sum(loss.item() for loss in losses),
        [grad_of(p) for p in nets[0].parameters()],
        ledger.moved,
        memory,
    )


def _convolution(X: Tensor, W: Tensor, b: Tensor) -> Tensor:
    return F.avg_pool2d(F.relu(F.conv2d(X, W, b), inplace=True), kernel_size=2)


def _dense(X: Tensor, W: Tensor, b: Tensor) -> Tensor:
    return F.relu(X.flatten(start_dim=1) @ W + b)


def _output(X: Tensor, W: Tensor, b: Tensor) -> Tensor:
    return X @ W + b


# LeNet as functions of the input, the weights, the biases
LAYERS = (_convolution, _convolution, _dense, _output)
# the dimension of a layer's weights along which its output channels or units lie
UNITS = (0, 0, 1, 1)


def _layers(net: nn.Module) -> list[tuple[Tensor, Tensor]]:
    """Return LeNet's weights and biases layer by layer."""
    params = [p.detach() for p in net.parameters()]
    return list(zip(params[::2], params[1::2], strict=True))


def _own(X: Tensor, device: torch.device) -> Tensor:
    """Return a parameter of `device`'s own, memory for nothing else included."""
    return X.to(device).clone(memory_format=torch.contiguous_format).requires_grad_()


class Unit(NamedTuple):
    """A micro-batch on a device of a pipeline, from `start` to `end`."""

    device: int
    micro_batch: int
    start: float
    end: float


def schedule(durations: Sequence[float], num_micro_batches: int) -> list[Unit]:
    """Return the forward pass of a pipeline by starting time: each unit as soon as piece and device
    are there.

    `durations` are those of a piece on each device. GPipe's backward pass is its mirror image.
    """
    units: dict[tuple[int, int], Unit] = {}
    for piece in range(num_micro_batches):
        for device, duration in enumerate(durations):
            before = [
                units[key].end for key in ((device - 1, piece), (device, piece - 1)) if key in units
            ]
            start = max(before, default=0.0)
            units[device, piece] = Unit(device, piece, start, start + duration)
    return sorted(units.values(), key=lambda unit: (unit.start, unit.device))


def idle_share(units: Sequence[Unit]) -> float:
    """Return the share of all devices' time that a schedule leaves unused: its bubble."""
    num_devices, end = 1 + max(unit.device for unit in units), max(unit.end for unit in units)
    return 1 - sum(unit.end - unit.start for unit in units) / (num_devices * end)


def cut(num_devices: int) -> list[list[int]]:
    """Return the layers of each device of a pipeline, as equal in number as can be."""
    return [part.tolist() for part in torch.arange(len(LAYERS)).tensor_split(num_devices)]


def flop_of_parts(net: nn.Module, num_devices: int) -> list[int]:
    """Return the FLOP of each device of a pipeline for an image's forward pass, counted and not
    computed.
    """
    X, counted = torch.empty(1, 1, 28, 28, device="meta"), []
    layers = [(W.to("meta"), b.to("meta")) for W, b in _layers(net)]
    for part in cut(num_devices):
        with FlopCounterMode(display=False) as flop:
            for layer in part:
                X = LAYERS[layer](X.to(layers[layer][0].dtype), *layers[layer])
        counted.append(flop.get_total_flops())
    return counted


def pipeline(
    net: nn.Module, X: Tensor, y: Tensor, devices: Devices, num_micro_batches: int = 1
) -> Step:
    """Take the gradient layer by layer over the devices, the batch in `num_micro_batches` one
    behind the other.

    Activations go forward from device to device and their gradients back. `idle` is that of the
    schedule with devices that take equally long; see `flop_of_parts` for how long each of LeNet's
    takes.

    Raises:
        ValueError: more devices than layers.
    """
    if len(devices) > len(LAYERS):
        raise ValueError(
            f"expected at most {len(LAYERS)} devices, a layer each, got {len(devices)}"
        )
    ledger, parts, last = Ledger(devices), cut(len(devices)), len(devices) - 1
    layers = _layers(net)
    params = [
        [_own(p, device) for layer in part for p in layers[layer]]
        for part, device in zip(parts, devices, strict=True)
    ]
    units = schedule([1.0] * len(devices), num_micro_batches)
    pieces, labels = (
        X.tensor_split(num_micro_batches),
        y.to(devices[last]).tensor_split(num_micro_batches),
    )
    inputs: dict[tuple[int, int], Tensor] = {
        (0, i): piece.to(devices[0]) for i, piece in enumerate(pieces)
    }
    outputs: dict[tuple[int, int], Tensor] = {}
    for device, piece, *_ in units:
        with ledger.keeping(device, params[device]):
            h = inputs[device, piece]
            for layer, W, b in zip(
                parts[device], params[device][::2], params[device][1::2], strict=True
            ):
                h = LAYERS[layer](h, W, b)
            if device == last:
                h = F.cross_entropy(h, labels[piece], reduction="sum")
            else:
                inputs[device + 1, piece] = ledger.send(
                    h, device, device + 1, "forward"
                ).requires_grad_()
            outputs[device, piece] = h
    for device, piece, *_ in reversed(units):
        grad = None
        if device != last:
            grad = ledger.send(grad_of(inputs[device + 1, piece]), device + 1, device, "backward")
        torch.autograd.backward(outputs[device, piece], grad)
    loss = sum(outputs[last, piece].item() for piece in range(num_micro_batches))
    memory = [ledger.memory(i, own) for i, own in enumerate(params)]
    gradients = [grad_of(p) for own in params for p in own]
    return Step(loss, gradients, ledger.moved, memory, idle_share(units))


def tensor_parallel(net: nn.Module, X: Tensor, y: Tensor, devices: Devices) -> Step:
    """Take the gradient with a share of each layer's channels or units on each device.

    After a layer each device sends its share of the output to all others (an all-gather), as the
    next layer needs all of it; in the backward pass each sends its part of the gradient back to the
    share's owner, who adds (a reduce-scatter). The logits go to the first device alone, which has
    the loss.
    """
    ledger, ranks = Ledger(devices), range(len(devices))
    shares = [
        [
            (_own(W_share, device), _own(b_share, device))
            for W_share, b_share, device in zip(
                W.tensor_split(len(devices), dim),
                b.tensor_split(len(devices)),
                devices,
                strict=True,
            )
        ]
        for (W, b), dim in zip(_layers(net), UNITS, strict=True)
    ]
    params = [[p for layer in shares for p in layer[i]] for i in ranks]
    # what a layer starts from, on each device that needs it
    whole = [X.to(device) for device in devices]
    # of each layer: its shares, and where all were gathered
    passed: list[tuple[list[Tensor], list[Tensor]]] = []
    for i_layer, (layer, share) in enumerate(zip(LAYERS, shares, strict=True)):
        outputs = []
        for i in ranks:
            with ledger.keeping(i, params[i]):
                outputs.append(layer(whole[i], *share[i]))
        targets = ranks if i_layer + 1 < len(LAYERS) else ranks[:1]
        whole = [
            torch.cat(
                [ledger.send(h, i, target, "forward") for i, h in enumerate(outputs)], 1
            ).requires_grad_()
            for target in targets
        ]
        passed.append((outputs, whole))
    with ledger.keeping(0, params[0]):
        loss = F.cross_entropy(whole[0], y.to(devices[0]), reduction="sum")
    torch.autograd.backward(loss)
    for outputs, gathered in reversed(passed):
        sizes = [h.shape[1] for h in outputs]
        grads = [grad_of(h).split(sizes, dim=1) for h in gathered]
        for i, h in enumerate(outputs):
            received = [
                ledger.send(grad[i], source, i, "backward") for source, grad in enumerate(grads)
            ]
            torch.autograd.backward(h, torch.stack(received).sum(0))
    gradients = [
        torch.cat([grad_of(share[i][j]).to(devices[0]) for i in ranks], dim if j == 0 else 0)
        for share, dim in zip(shares, UNITS, strict=True)
        for j in (0, 1)
    ]
    memory = [ledger.memory(i, own) for i, own in enumerate(params)]
    return Step(loss.item(), gradients, ledger.moved, memory)


Kind = Callable[[nn.Module, Tensor, Tensor, Devices], Step]


def difference(step: Step, reference: Step) -> float:
    """Return the largest difference of a gradient from the reference's, relative to that one's
    largest entry.
    """
    pairs = zip(step.gradients, reference.gradients, strict=True)
    return max(float((g.cpu() - r.cpu()).abs().max() / r.abs().max().cpu()) for g, r in pairs)
