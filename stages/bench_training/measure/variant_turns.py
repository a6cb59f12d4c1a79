"""What a variant of a race does in its turns: ways to train, and a product to hold them against."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lab.core.shared_params import Compile, Precision
from lab.data import loaders
from lab.data.datasets import read_fashion_mnist
from lab.data.images import LabelledImages, to_tensors
from lab.data.order import epoch_order
from lab.machine.devices import allow_tf32
from lab.nets.models import MODELS, LeNet, lenet_of_layers, to_float
from lab.parallel.replicas import sgd, split_batch, sum_gradients
from lab.timing.clock import read_clock
from lab.training.notes_loop import EpochClock, notes_epoch, to_contiguous
from lab.training.run_params import NOTES, RunParams
from lab.training.steps import Stepper, prepare_process
from lab.training.strategies.base import Strategy
from lab.training.strategies.graph import Graph
from lab.training.strategies.replicas import Replicas

LR = 0.01
Turn = Callable[[int], float]  # takes so many steps, an epoch's at most; seconds per step


@dataclass(frozen=True)
class TrainingVariant:
    """What a process does in its turns of `steps` steps, or of as many as an epoch has.

    Attributes:
        kind: `book`, the notes' loop; `lightning`, PyTorch Lightning with the same loader; `plain`,
            a loop over float images in memory, as one writes it without this project; `replicas`,
            training's own step on `num_devices` devices of one process; `graph`, the same recorded
            as a CUDA graph; `loop`, the notes' step on them, one after the other; `product`,
            products of square matrices of `batch_size` rows.
        precision: `default`, torch's own, unless the variant is about another one.
        num_workers: processes that load, of `book` and `lightning`.
        width: so many times LeNet's channels and hidden units.
    """

    kind: Literal["book", "lightning", "plain", "replicas", "graph", "loop", "product"]
    net: str
    batch_size: int
    steps: int
    device: str
    threads: int
    num_devices: int = 1
    precision: Precision = "default"
    compile_mode: Compile = "none"
    num_workers: int = 0
    width: int = 1

    def devices(self) -> list[torch.device]:
        """The variant's devices: GPUs by number, or the CPU as often."""
        if self.device == "cuda":
            return [torch.device("cuda", i) for i in range(self.num_devices)]
        return [torch.device(self.device)] * self.num_devices

    def make_net(self) -> nn.Module:
        """The net that the variant trains, on the CPU."""
        generator = torch.Generator().manual_seed(0)
        return LeNet(generator, self.width) if self.width > 1 else MODELS[self.net](generator)


@cache
def train_set() -> LabelledImages:
    """Fashion-MNIST's images to train on, read once."""
    return to_tensors(read_fashion_mnist("train"))


def turn_of(variant: TrainingVariant) -> Turn:
    """Set this process up for a variant; not for `lightning`, which keeps hold of the process."""
    if variant.kind in ("replicas", "graph", "loop"):
        prepare_process(variant.precision)
    else:
        allow_tf32(variant.precision)
    torch.set_num_threads(variant.threads)
    kinds = {
        "book": _by_the_book,
        "plain": _plain,
        "replicas": _replicas,
        "graph": _graph,
        "loop": _loop,
        "product": _product,
    }
    return kinds[variant.kind](variant)


def _by_the_book(variant: TrainingVariant) -> Turn:
    """The notes' loop: PIL and floats for each image, a loader started anew, torch's defaults."""
    [device], images = variant.devices(), loaders.book_images()
    net = to_contiguous(variant.make_net()).to(device)

    def turn(steps: int) -> float:
        batches = loaders.loader(images, variant.batch_size, variant.num_workers)
        count = len(images)  # type: ignore[arg-type]
        clock = EpochClock.of([device], count, variant.batch_size, steps, variant.num_workers)
        return notes_epoch(net, batches, LR, clock)

    return turn


def _plain(variant: TrainingVariant) -> Turn:
    """What a good engineer writes without this project: images in memory, torch's own parts."""
    [device] = variant.devices()
    images, labels = train_set()
    X, y = to_float(images).to(device, memory_format=torch.channels_last), labels.to(device)
    net = lenet_of_layers().to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]
    optimizer = torch.optim.SGD(net.parameters(), LR)

    def turn(steps: int) -> float:
        start = read_clock([device])
        batches = torch.randperm(len(y), device=device).split(variant.batch_size)[:steps]
        for rows in batches:
            loss = F.cross_entropy(net(X[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return (read_clock([device]) - start) / len(batches)

    return turn


def _product(variant: TrainingVariant) -> Turn:
    """Products of square matrices, a step being one: the rate that a step is held against."""
    [device] = variant.devices()
    dtype = torch.bfloat16 if variant.precision == "bf16" else torch.float32
    a = torch.rand(variant.batch_size, variant.batch_size, device=device).to(dtype)
    out = torch.empty_like(a)

    def turn(steps: int) -> float:
        torch.mm(a, a, out=out)
        start = read_clock([device])
        for _ in range(steps):
            torch.mm(a, a, out=out)
        return (read_clock([device]) - start) / steps

    return turn


def _replicas(variant: TrainingVariant) -> Turn:
    return _training(variant, Replicas(variant.make_net(), variant.devices(), _recipe(variant)))


def _graph(variant: TrainingVariant) -> Turn:
    return _training(variant, Graph(variant.make_net(), variant.devices(), _recipe(variant)))


def _loop(variant: TrainingVariant) -> Turn:
    return _training(variant, NotesLoop(variant.make_net(), variant.devices(), _recipe(variant)))


def _recipe(variant: TrainingVariant) -> RunParams:
    return NOTES.model_copy(
        update={
            "precision": variant.precision,
            "compile": variant.compile_mode,
            "batch_size": variant.batch_size,
            "lr": LR,
        }
    )


class NotesLoop(Strategy):
    """The notes' `train_batch`: one thread goes from device to device (000:377-392)."""

    def step(self, X: Tensor, y: Tensor, lr: float, batch_size: int) -> Tensor:
        """Take a step: the losses of all devices, then their gradients, one after the other."""
        shards = zip(self.nets, *split_batch(X, y, self.devices), strict=True)
        losses = [F.cross_entropy(net(X_), y_, reduction="sum") for net, X_, y_ in shards]
        for loss in losses:
            loss.backward()
        sum_gradients(self.nets)
        for net in self.nets:
            sgd(net.parameters(), lr, batch_size)
        return torch.stack([loss.detach().to(self.devices[0]) for loss in losses]).sum()


def _training(variant: TrainingVariant, strategy: Strategy) -> Turn:
    """The steps of stages.train, each turn those of another epoch."""
    stepper = Stepper(strategy, train_set())
    epochs = count(1)

    def turn(steps: int) -> float:
        start = read_clock(strategy.devices)
        order = epoch_order(len(stepper.labels), seed=0, epoch=next(epochs)).to(stepper.device)
        batches = order.split(variant.batch_size)[:steps]
        losses = torch.zeros(len(batches), dtype=torch.float64, device=stepper.device)
        stepper.take(batches, [LR] * len(batches), losses)
        return (read_clock(strategy.devices) - start) / len(batches)

    return turn
