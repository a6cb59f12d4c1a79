"""How each kind of variant trains: a turn takes some steps, an epoch's at most."""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import count

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lab.data import loaders
from lab.data.datasets import read_fashion_mnist
from lab.data.images import LabelledImages, to_tensors
from lab.data.order import epoch_order
from lab.machine.devices import allow_tf32, precision_on
from lab.nets.models import lenet_of_layers, to_float
from lab.parallel.replicas import sgd, split_batch, sum_gradients
from lab.timing.clock import read_clock
from lab.training.model import BatchStep, Model
from lab.training.notes_loop import EpochClock, notes_epoch, to_contiguous
from lab.training.steps.by_name import model_and_step, on_rows
from lab.training.trainer import Trainer, prepare_process
from stages.bench_training.measure.variants import CHANNELS, SIDE, TrainingVariant

Turn = Callable[[int], float]  # takes so many steps; seconds per step


def plain_epoch(
    net: nn.Module,
    optimizer: torch.optim.Optimizer,
    X: Tensor,
    y: Tensor,
    batches: Sequence[Tensor],
) -> None:
    """What a good engineer writes without this project: images in memory, torch's own parts."""
    for rows in batches:
        loss = F.cross_entropy(net(X[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def notes_step(model: Model) -> BatchStep:
    """The notes' `train_batch`: one thread goes from device to device (000:377-392)."""

    def step(X: Tensor, y: Tensor, lr: float, batch_size: int) -> Tensor:
        """Take a step: the losses of all devices, then their gradients, sequentially."""
        shards = zip(model.nets, *split_batch(X, y, model.devices), strict=True)
        losses = [F.cross_entropy(net(X_), y_, reduction="sum") for net, X_, y_ in shards]
        for loss in losses:
            loss.backward()
        sum_gradients(model.nets)
        for net in model.nets:
            sgd(net.parameters(), lr, batch_size)
        return torch.stack([loss.detach().to(model.devices[0]) for loss in losses]).sum()

    return step


def turn_of(variant: TrainingVariant) -> Turn:
    """Set this process up for a variant; not for `lightning`, which keeps hold of the process."""
    precision = precision_on(variant.devices()[0], variant.precision)
    if variant.kind in ("engine", "loop"):
        prepare_process(precision)
    else:
        allow_tf32(precision)
    torch.set_num_threads(variant.threads)
    kinds = {
        "book": _by_the_book,
        "plain": _plain,
        "engine": _by_the_engine,
        "loop": _by_the_notes_over_devices,
        "product": _product,
        "convolution": _convolution,
    }
    return kinds[variant.kind](variant)


@cache
def train_set() -> LabelledImages:
    """Fashion-MNIST's images to train on, read once."""
    return to_tensors(read_fashion_mnist("train"))


def _by_the_book(variant: TrainingVariant) -> Turn:
    """The notes' loop: PIL and floats for each image, a loader started anew, torch's defaults."""
    [device], images = variant.devices(), loaders.book_images()
    net = to_contiguous(variant.make_net()).to(device)

    def turn(steps: int) -> float:
        batches = loaders.loader(images, variant.batch_size, variant.num_workers)
        count = len(images)  # type: ignore[arg-type]
        clock = EpochClock.of([device], count, variant.batch_size, steps, variant.num_workers)
        return notes_epoch(net, batches, variant.lr, clock)

    return turn


def _plain(variant: TrainingVariant) -> Turn:
    [device] = variant.devices()
    images, labels = train_set()
    X, y = to_float(images).to(device, memory_format=torch.channels_last), labels.to(device)
    net = lenet_of_layers().to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]
    optimizer = torch.optim.SGD(net.parameters(), variant.lr)

    def turn(steps: int) -> float:
        start = read_clock([device])
        batches = torch.randperm(len(y), device=device).split(variant.batch_size)[:steps]
        plain_epoch(net, optimizer, X, y, batches)
        return (read_clock([device]) - start) / len(batches)

    return turn


def _by_the_engine(variant: TrainingVariant) -> Turn:
    model, step = model_and_step(variant.make_net(), variant.devices(), variant)
    return _training(Trainer(model, step, train_set()))


def _by_the_notes_over_devices(variant: TrainingVariant) -> Turn:
    model = Model(variant.make_net(), variant.devices(), variant)
    return _training(Trainer(model, on_rows(notes_step(model)), train_set()))


def _training(trainer: Trainer) -> Turn:
    """The steps of stages.train, each turn those of another epoch."""
    recipe, devices, epochs = trainer.model.recipe, trainer.model.devices, count(1)

    def turn(steps: int) -> float:
        start = read_clock(devices)
        order = epoch_order(trainer.num_images, seed=0, epoch=next(epochs)).to(trainer.device)
        batches = order.split(recipe.batch_size)[:steps]
        losses = torch.zeros(len(batches), dtype=torch.float64, device=trainer.device)
        trainer.take(batches, [recipe.lr] * len(batches), losses)
        return (read_clock(devices) - start) / len(batches)

    return turn


def _product(variant: TrainingVariant) -> Turn:
    """Products of square matrices, a step being one."""
    [device] = variant.devices()
    a = torch.rand(variant.batch_size, variant.batch_size, device=device).to(_dtype(variant))
    out = torch.empty_like(a)
    return _repeated(lambda: torch.mm(a, a, out=out), device)


def _convolution(variant: TrainingVariant) -> Turn:
    """Convolutions by kernels of 3 x 3 over padded images, channels last, a step being one."""
    [device] = variant.devices()
    X = torch.rand(variant.batch_size, CHANNELS, SIDE, SIDE, device=device).to(_dtype(variant))
    W = torch.rand(CHANNELS, CHANNELS, 3, 3, device=device).to(_dtype(variant))
    X, W = (t.contiguous(memory_format=torch.channels_last) for t in (X, W))
    return _repeated(lambda: F.conv2d(X, W, padding=1), device)


def _dtype(variant: TrainingVariant) -> torch.dtype:
    return torch.bfloat16 if variant.precision == "bf16" else torch.float32


def _repeated(call: Callable[[], object], device: torch.device) -> Turn:
    """The rates that steps are held against: a call again and again, the first not timed."""

    def turn(steps: int) -> float:
        call()
        start = read_clock([device])
        for _ in range(steps):
            call()
        return (read_clock([device]) - start) / steps

    return turn
