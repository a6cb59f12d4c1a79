"""The loops that variants train with; a turn takes a number of steps, at most an epoch's."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
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
from lab.nets.step_parts import StepPart, StepParts, vector_length
from lab.parallel.replicas import forward_backward, sgd, split_batch, sum_gradients
from lab.timing import rates
from lab.timing.clock import read_clock
from lab.training.model import BatchStep, Model
from lab.training.notes_loop import EpochClock, notes_epoch, to_contiguous
from lab.training.steps.by_name import model_and_step, on_rows
from lab.training.trainer import Trainer, prepare_process
from stages.bench_training.measure.variants import TrainingVariant

Turn = Callable[[int], float]  # takes a number of steps and returns the seconds per step
LOG_INTERVAL = 10  # steps
Batches = Iterable[tuple[Tensor, Tensor]]  # float images (n, 1, 28, 28) and labels (n,)


def plain_epoch(
    net: nn.Module,
    optimizer: torch.optim.Optimizer,
    X: Tensor,
    y: Tensor,
    batches: Sequence[Tensor],
) -> None:
    """Train as a good engineer would without this project: images in memory, torch's modules."""
    for rows in batches:
        loss = F.cross_entropy(net(X[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def example_epoch(
    net: nn.Module, optimizer: torch.optim.Optimizer, batches: Batches, clock: EpochClock
) -> float:
    """Train as PyTorch's MNIST example does; return the seconds per step."""
    [device] = clock.devices
    net.train()
    for done, (X, y) in enumerate(batches, 1):
        X, y = X.to(device), y.to(device)
        optimizer.zero_grad()
        loss = F.nll_loss(F.log_softmax(net(X), dim=1), y)
        loss.backward()
        optimizer.step()
        if done % LOG_INTERVAL == 0:
            loss.item()  # the example prints it
        clock.step_done(done)
        if done == clock.steps < clock.whole:
            break
    else:
        clock.step_done(clock.whole)
    return clock.seconds_per_step()


def notes_step(model: Model) -> BatchStep:
    """Return the notes' `train_batch`: one thread serves all devices sequentially (000:377-392)."""

    def step(X: Tensor, y: Tensor, lr: float, batch_size: int) -> Tensor:
        """Take a step: compute all devices' losses, then their gradients, sequentially."""
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
    """Set this process up for a variant other than `lightning`, which runs its own loop."""
    precision = precision_on(variant.devices()[0], variant.precision)
    if variant.kind in ("engine", "loop"):
        prepare_process(precision)
    else:
        allow_tf32(precision)
    torch.set_num_threads(variant.threads)
    kinds = {
        "book": _by_the_book,
        "example": _by_the_example,
        "plain": _plain,
        "engine": _by_the_engine,
        "loop": _by_the_notes_over_devices,
        "arithmetic": _arithmetic,
        "copies": _copies,
    }
    return kinds[variant.kind](variant)


@cache
def train_set() -> LabelledImages:
    """Return Fashion-MNIST's training images, read once."""
    return to_tensors(read_fashion_mnist("train"))


def _by_the_book(variant: TrainingVariant) -> Turn:
    """Return turns of the notes' loop: PIL per image, a new loader each turn, torch's defaults."""
    net = to_contiguous(variant.make_net()).to(variant.devices()[0])
    return _loading(variant, lambda batches, clock: notes_epoch(net, batches, variant.lr, clock))


def _by_the_example(variant: TrainingVariant) -> Turn:
    net = to_contiguous(variant.make_net()).to(variant.devices()[0])
    optimizer = torch.optim.SGD(net.parameters(), variant.lr)
    return _loading(variant, partial(example_epoch, net, optimizer))


def _loading(variant: TrainingVariant, epoch: Callable[[Batches, EpochClock], float]) -> Turn:
    """Return turns of a loop over the notes' loader."""
    devices, images = variant.devices(), loaders.book_images()

    def turn(steps: int) -> float:
        batches = loaders.loader(images, variant.batch_size, variant.num_workers)
        count = len(images)  # type: ignore[arg-type]
        clock = EpochClock.of(devices, count, variant.batch_size, steps, variant.num_workers)
        return epoch(batches, clock)

    return turn


def _plain(variant: TrainingVariant) -> Turn:
    [device] = variant.devices()
    images, labels = train_set()
    X, y = to_float(images).to(device, memory_format=torch.channels_last), labels.to(device)
    net = lenet_of_layers() if variant.net == "lenet" else variant.make_net()
    net.to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]
    optimizer = torch.optim.SGD(net.parameters(), variant.lr)
    net.forward = torch.autocast(device.type, torch.bfloat16, enabled=variant.precision == "bf16")(
        net.forward
    )

    def turn(steps: int) -> float:
        start = read_clock([device])
        batches = torch.randperm(len(y), device=device).split(variant.batch_size)[:steps]
        plain_epoch(net, optimizer, X, y, batches)
        return (read_clock([device]) - start) / len(batches)

    return turn


def _by_the_engine(variant: TrainingVariant) -> Turn:
    model, step = model_and_step(variant.make_net(), variant.devices(), variant)
    return TrainingTurns(Trainer(model, step, train_set()))


def _by_the_notes_over_devices(variant: TrainingVariant) -> Turn:
    model = Model(variant.make_net(), variant.devices(), variant)
    return TrainingTurns(Trainer(model, on_rows(notes_step(model)), train_set()))


class TrainingTurns:
    """Turns that take the steps of stages.train; each turn is from a different epoch."""

    def __init__(self, trainer: Trainer) -> None:
        self._trainer, self._epochs = trainer, count(1)

    def __call__(self, steps: int) -> float:
        """Take `steps` steps of the next epoch; return the seconds per step."""
        trainer, devices = self._trainer, self._trainer.model.devices
        start = read_clock(devices)
        batches = self._batches(steps)
        losses = torch.zeros(len(batches), dtype=torch.float64, device=trainer.device)
        trainer.take(batches, [trainer.model.recipe.lr] * len(batches), losses)
        return (read_clock(devices) - start) / len(batches)

    def parts(self, steps: int) -> dict[str, StepPart]:
        """Return a step's parts on one device by kind of operation, averaged over `steps` steps."""
        trainer, model = self._trainer, self._trainer.model
        [net], recipe = model.nets, model.recipe
        data = trainer.images, trainer.labels
        batches = [[t.index_select(0, rows) for t in data] for rows in self._batches(steps)]
        with StepParts(vector_length(trainer.device), partial(read_clock, model.devices)) as seen:
            for X, y in batches:
                forward_backward(net, X, y)
                sgd(net.parameters(), recipe.lr, recipe.batch_size)
        return {kind: part / len(batches) for kind, part in seen.parts.items()}

    def _batches(self, steps: int) -> Sequence[Tensor]:
        trainer = self._trainer
        order = epoch_order(trainer.num_images, seed=0, epoch=next(self._epochs))
        return list(order.to(trainer.device).split(trainer.model.recipe.batch_size)[:steps])


# --- rates that bound a step


def _arithmetic(variant: TrainingVariant) -> Turn:
    """Return turns that give seconds per GFLOP."""
    [device] = variant.devices()
    dtype = torch.bfloat16 if variant.precision == "bf16" else torch.float32
    return partial(rates.fastest, rates.arithmetic(device, dtype), device)


def _copies(variant: TrainingVariant) -> Turn:
    """Return turns that give seconds per GB read and written."""
    [device] = variant.devices()
    return partial(rates.fastest, rates.copies(device), device)
