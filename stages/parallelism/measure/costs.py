"""Bytes that the kinds of parallelism send and hold, counted while they run, and FLOP per byte.

We count a step of each kind, the notes' all-reduce and one that all devices share, and the networks
that the notes rank. In rows.csv x is images per step; a pipeline without `micro_batches` has the
number in params.yaml.
"""

import copy
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from lab.data.datasets import Split
from lab.data.images import to_tensors
from lab.machine.devices import Devices
from lab.nets.flops import training_flop
from lab.nets.lenet import LENET_SHAPES
from lab.nets.models import MODELS, LeNet, to_float
from lab.parallel.replicas import Collective, allreduce, grad_of
from lab.parallel.workers import thread_pool
from lab.results.measurements import Cell, Measurement
from stages.parallelism.measure.by_hand import (
    DataParallel,
    DeviceGroup,
    Kind,
    Layered,
    Pipeline,
    TensorParallel,
    cut,
    dense_layers,
    kinds,
    lenet_layers,
)
from stages.parallelism.measure.names import (
    ALEXNET,
    DATA,
    DENSE,
    GOOGLENET,
    INCEPTION_V3,
    LENET,
    NOTES_ALLREDUCE,
    ONE,
    PIPELINE,
    RESNET_18,
    RESNET_50,
    SHARDED_ALLREDUCE,
    SMALL_RESNET_18,
    TENSOR,
)
from stages.parallelism.measure.params import ParallelismParams
from stages.parallelism.measure.schedule import idle_share, schedule

T = TypeVar("T")


# --- a step of each kind


def measure_lenet(
    p: ParallelismParams, devices: Devices, images: Split, seed: int
) -> Iterator[Measurement]:
    """Yield MB sent and held by kind and batch, and each gradient's error against one device."""
    net, sizes = LeNet(torch.Generator().manual_seed(seed)), p.batch_sizes
    bytes_of_images, y = to_tensors(images)
    X = to_float(bytes_of_images)
    exact, few = copy.deepcopy(net).double(), (X[: sizes[0]].double(), y[: sizes[0]])
    reference = counted_step(DataParallel, exact, *few, devices.devices[:1]).gradients
    for variant, kind, n, micro_batches in _cases(p):
        about: dict[str, Cell] = {"net": LENET, "devices": n, **micro_batches}
        one = partial(counted, variant=variant, device_kind=devices.kind, columns=about)
        for size in sizes:
            step = counted_step(kind, net, X[:size], y[:size], devices.devices[:n])
            yield one("sent", x=size, value=step.sent / 1e6, unit="MB")
            held = max(memory.total for memory in step.memory) / 1e6
            yield one("held", x=size, value=held, unit="MB")
            params = max(memory.params for memory in step.memory) / 1e6
            yield one("parameters held", x=size, value=params, unit="MB")
        gradients = counted_step(kind, exact, *few, devices.devices[:n]).gradients
        yield one("gradient", x=sizes[0], value=roundings(gradients, reference), unit="eps")
        if m := micro_batches.get("micro_batches"):
            slots = schedule(flop_of_parts(lenet_layers(net), n), m)
            yield one("idle by FLOP", x=sizes[0], value=100 * idle_share(slots), unit="%")


def _cases(p: ParallelismParams) -> Iterator[tuple[str, Kind, int, dict[str, int]]]:
    yield ONE, DataParallel, 1, {}
    for n in p.num_devices:
        yield DATA, DataParallel, n, {}
        for m in (1, p.num_micro_batches):
            yield PIPELINE, partial(Pipeline, num_micro_batches=m), n, {"micro_batches": m}
        yield TENSOR, TensorParallel, n, {}


def measure_dense(p: ParallelismParams, devices: Devices, seed: int) -> Iterator[Measurement]:
    """Yield MB sent for a net of nearly all parameters, and its state on the fullest device."""
    net, X, y = dense_net(p, seed)
    for variant, kind in kinds(p.num_micro_batches).items():
        for n in p.num_devices:
            about: dict[str, Cell] = {"net": DENSE, "devices": n}
            one = partial(counted, variant=variant, device_kind=devices.kind, columns=about)
            for size in p.batch_sizes:
                step = counted_step(kind, net, X[:size], y[:size], devices.devices[:n])
                yield one("sent", x=size, value=step.sent / 1e6, unit="MB")
            state = max(memory.params + memory.gradients for memory in step.memory) / 1e6
            yield one("state", x=0, value=state, unit="MB")


def dense_net(p: ParallelismParams, seed: int) -> tuple[Layered, Tensor, Tensor]:
    """Return the net, and random images and labels for it."""
    generator = torch.Generator().manual_seed(seed)
    net = dense_layers(p.wide_units, generator)
    X = torch.rand(p.batch_sizes[-1], 1, 28, 28, generator=generator)
    return net, X, torch.randint(10, (len(X),), generator=generator)


def counted(
    experiment: str,
    variant: str,
    x: float,
    value: float,
    unit: str,
    device_kind: str = "cpu",
    columns: dict[str, Cell] | None = None,
) -> Measurement:
    """Return a count: a single sample, since it does not vary."""
    return Measurement(experiment, variant, x, (value,), unit, device_kind, columns=columns or {})


def roundings(gradients: Sequence[Tensor], reference: Sequence[Tensor]) -> float:
    """Return `difference` in float64 rounding units."""
    return difference(gradients, reference) / float(np.finfo(float).eps)


def difference(gradients: Sequence[Tensor], reference: Sequence[Tensor]) -> float:
    """Return the largest difference of a gradient, relative to its reference's largest entry."""
    pairs = zip(gradients, reference, strict=True)
    return max(float((g.cpu() - r.cpu()).abs().max() / r.abs().max().cpu()) for g, r in pairs)


def flop_of_parts(net: Layered, num_devices: int) -> list[int]:
    """Count each device's FLOP for the forward pass of an image in a pipeline, on meta tensors."""
    X, found = torch.empty(1, 1, 28, 28, device="meta", dtype=net.params[0][0].dtype), []
    for part in cut(len(net.params), num_devices):
        with FlopCounterMode(display=False) as flop:
            X = net.forward(part, X, [p.to("meta") for i in part for p in net.params[i]])
        found.append(flop.get_total_flops())
    return found


# --- how a step is counted


@dataclass(frozen=True)
class Memory:
    """Bytes that a device holds at the end of the forward pass and needs for a step."""

    params: int
    gradients: int
    # saved by autograd for the backward pass, with the input and the loss's own tensors
    activations: int

    @property
    def total(self) -> int:
        return self.params + self.gradients + self.activations


@dataclass(frozen=True)
class CountedStep:
    """The summed loss of a batch, each parameter's gradient, and their costs.

    `sent` counts bytes between devices, without the batch's way to them. `memory` is per device.
    """

    loss: float
    gradients: list[Tensor]
    sent: int
    memory: list[Memory]


def counted_step(
    kind: Kind, net: Layered | nn.Module, X: Tensor, y: Tensor, devices: Sequence[torch.device]
) -> CountedStep:
    """Compute the gradient of a batch and count its costs."""
    model = kind(lenet_layers(net) if isinstance(net, nn.Module) else net, devices)
    with thread_pool(len(devices), torch.get_num_threads()) as pool:
        group = CountingGroup(devices, pool, model.params)
        loss = model.take_gradient(X, y, group)
    return CountedStep(loss.item(), model.gradients(), group.sent, group.memory())


class CountingGroup(DeviceGroup):
    """Counts the bytes that devices send, and keep for the backward pass."""

    def __init__(
        self, devices: Sequence[torch.device], pool: Executor, params: Sequence[Sequence[Tensor]]
    ) -> None:
        super().__init__(devices, pool)
        self.sent = 0
        self._params = params  # by device
        self._kept: list[dict[int, int]] = [{} for _ in devices]  # bytes by address
        self._lock = threading.Lock()  # devices send concurrently

    def each(self, work: Callable[..., T], on: Sequence[int], *columns: Sequence[Any]) -> list[T]:
        def watched(device: int, *arguments: Any) -> T:
            with self._keeping(device):
                return work(device, *arguments)

        return super().each(watched, on, *columns)

    def send(self, X: Tensor, source: int, target: int) -> Tensor:
        if source != target:
            with self._lock:
                self.sent += X.nbytes
        return super().send(X, source, target)

    def allreduce(self, same: Sequence[Tensor]) -> None:
        with TrafficCounter(same) as traffic:
            super().allreduce(same)
        self.sent += sum(traffic.received)

    def memory(self) -> list[Memory]:
        return [
            Memory(
                sum(p.nbytes for p in own), sum(grad_of(p).nbytes for p in own), sum(kept.values())
            )
            for own, kept in zip(self._params, self._kept, strict=True)
        ]

    def _keeping(self, device: int) -> AbstractContextManager[None]:
        """Count bytes that autograd keeps on a device, each address once, without parameters."""
        own = {p.data_ptr() for p in self._params[device]}

        def pack(X: Tensor) -> Tensor:
            if X.data_ptr() not in own:
                self._kept[device][X.data_ptr()] = X.nbytes
            return X

        return saved_tensors_hooks(pack, lambda X: X)


class TrafficCounter(TorchDispatchMode):
    """Adds up the bytes that operations read from other devices' tensors.

    `sent` and `received` are per device. An operation and its result belong to the device of its
    first argument, even after `.to` has moved it: bytes count when they are used.
    """

    def __init__(self, data: Sequence[Tensor]) -> None:
        """Start at zero, with one tensor of each device."""
        super().__init__()
        self.sent, self.received = ([0] * len(data) for _ in range(2))
        self._place = {_address(X): i for i, X in enumerate(data)}
        self._results: list[Tensor] = []  # kept alive, so that no address is reused

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        tensors = [X for X in args if isinstance(X, Tensor)]
        here, *others = [self._place[_address(X)] for X in tensors]
        for X, there in zip(tensors[1:], others, strict=True):
            if there != here:
                self.received[here] += X.nbytes
                self.sent[there] += X.nbytes
        for made in result if isinstance(result, list | tuple) else [result]:
            self._place.setdefault(_address(made), here)
            self._results.append(made)
        return result


def _address(X: Tensor) -> int:
    return X.untyped_storage().data_ptr()


# --- the all-reduce of LeNet's gradient: the notes', and one that all devices share


def sharded_allreduce(data: list[Tensor]) -> None:
    """Replace each tensor in `data` by the sum of all, in place; each device adds one share."""
    count = len(data)
    parts = [X.view(-1).tensor_split(count) for X in data]
    for owner in range(count):
        allreduce([parts[(owner + i) % count][owner] for i in range(count)])


def measure_allreduce(device_counts: Sequence[int], seed: int) -> Iterator[Measurement]:
    """Yield the most that one device sends, and the most that any but the first sends or receives.

    Both are relative to the gradient's bytes.
    """
    collectives = {NOTES_ALLREDUCE: allreduce, SHARDED_ALLREDUCE: sharded_allreduce}
    for variant, collective in collectives.items():
        for n in device_counts:
            sent, received = traffic_of(collective, n, seed)
            about: dict[str, Cell] = {"net": LENET, "devices": n}
            for experiment, value in (
                ("most sent", max(sent)),
                ("others move", max(*sent[1:], *received[1:])),
            ):
                yield counted(experiment, variant, 0, value, "times the gradient", columns=about)


def traffic_of(collective: Collective, count: int, seed: int) -> tuple[list[float], list[float]]:
    """Return the bytes that each of `count` devices sends and receives, relative to the gradient's.

    Raises:
        ValueError: the all-reduce does not give every device the sum.
    """
    generator = torch.Generator().manual_seed(seed)
    size, moved = 0, torch.zeros(2, count, dtype=torch.float64)
    for shape in LENET_SHAPES:
        # integers: their sums are exact in any order
        data = [torch.randint(100, shape, generator=generator).float() for _ in range(count)]
        wanted = torch.stack(data).sum(0)
        with TrafficCounter(data) as traffic:
            collective(list(data))  # it may rebind the copy's entries; the devices have `data`
        if not all(torch.equal(X, wanted) for X in data):
            raise ValueError("expected the sum on every device")
        size += wanted.nbytes
        moved += torch.tensor([traffic.sent, traffic.received])
    sent, received = (moved / size).tolist()
    return sent, received


# --- FLOP per byte of parameters


def measure_networks() -> Iterator[Measurement]:
    """Yield a training step's FLOP per image and byte of parameters, for each network."""
    for name, (net, shape) in networks().items():
        flop = training_flop(net.eval(), (1, *shape))
        size = 4 * sum(p.numel() for p in net.parameters())
        yield counted("FLOP per byte", name, 1, flop / size, "FLOP per byte")


def networks() -> dict[str, tuple[nn.Module, tuple[int, ...]]]:
    """Return the networks, each with the shape of its images; torchvision's have no weights."""
    # torchvision imports a compiler, which takes seconds; only this function needs it
    from lab.machine.torchvision_import import torchvision

    generator, models = torch.Generator(), torchvision.models
    with torch.device("meta"):
        published: dict[str, tuple[nn.Module, int]] = {
            ALEXNET: (models.alexnet(), 224),
            GOOGLENET: (models.googlenet(init_weights=False, aux_logits=False), 224),
            INCEPTION_V3: (models.inception_v3(init_weights=False, aux_logits=False), 299),
            RESNET_18: (models.resnet18(), 224),
            RESNET_50: (models.resnet50(), 224),
        }
    notes = {LENET: MODELS["lenet"](generator), SMALL_RESNET_18: MODELS["resnet18"](generator)}
    small = {name: (net, (1, 28, 28)) for name, net in notes.items()}
    return {**small, **{name: (net, (3, side, side)) for name, (net, side) in published.items()}}
