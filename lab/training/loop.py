"""Training as in chapter 13: epochs over images kept in memory, one loop for all strategies."""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Any

import torch
from torch import Tensor

from lab.core.errors import DivergedError
from lab.data.images import LabelledImages
from lab.data.order import epoch_generator, shuffled
from lab.nets.models import UInt8Input
from lab.optim.schedules import named, per_step
from lab.parallel.workers import parallel_map
from lab.timing.clock import read_clock
from lab.training.accuracy import accuracy
from lab.training.model import Model
from lab.training.processes import Alone
from lab.training.shards import blocks
from lab.training.trainer import Trainer

SAVE_EVERY_S = 30.0  # at most lost if a run ends within an epoch


@dataclass(frozen=True)
class Epoch:
    """One epoch: mean training loss, accuracy on the test images, seconds of only the training.

    `resumed` marks an epoch that was interrupted; its seconds are the sum over its parts.
    """

    epoch: int
    train_loss: float
    test_accuracy: float
    seconds: float
    resumed: bool = False


@dataclass(frozen=True)
class Progress:
    """A run's progress: the epochs it has finished, and the steps of the next one.

    `losses` are the summed losses of these steps (float64, over all processes), and `seconds` is
    their time.
    """

    epochs: list[Epoch] = field(default_factory=list)
    losses: Tensor = field(default_factory=lambda: torch.zeros(0, dtype=torch.float64))
    seconds: float = 0.0

    @property
    def place(self) -> int:
        """A number that grows with each step."""
        return len(self.epochs) << 32 | len(self.losses)

    def state(self) -> dict[str, Any]:
        """Return the progress as tensors, numbers and lists, which a checkpoint may hold."""
        return {
            "epochs": [astuple(e) for e in self.epochs],
            "losses": self.losses,
            "seconds": self.seconds,
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "Progress":
        """Restore the progress from `state()`."""
        epochs = [Epoch(*values) for values in state["epochs"]]
        return cls(epochs, state["losses"], state["seconds"])


class _SaveTimer:
    """A timer for saves within an epoch: every 15 to 30 s, after the same step in all processes.

    The processes compare their times after 1, 2, 4, 8, ... steps.
    """

    def __init__(self, processes: Alone) -> None:
        self._processes = processes
        self.restart()

    def restart(self) -> None:
        self._start, self._steps, self._next = time.monotonic(), 0, 1

    def due(self) -> bool:
        """Return whether to save after this step; call it after each step."""
        self._steps += 1
        if self._steps < self._next:
            return False
        self._next *= 2
        seconds = self._processes.largest(time.monotonic() - self._start)
        return seconds >= SAVE_EVERY_S / 2


def train(
    trainer: Trainer,
    test_set: LabelledImages,
    seed: int,
    progress: Progress | None = None,
    on_step: Callable[[int], object] = lambda images: None,
) -> Iterator[Progress]:
    """Train by the model's recipe, with the order of the images from `seed`.

    Yield the progress after each epoch, and occasionally within one. If the batch size does not
    divide the number of images, the last batch of an epoch is smaller. `on_step` receives the
    number of images of each step, over all processes. Seconds cover training only. With the
    `progress` of an earlier run, and its state loaded into the model, the run continues bit for bit
    as the earlier one would have.

    Raises:
        DivergedError: a step's loss is not finite.
    """
    progress, model, num_images = progress or Progress(), trainer.model, trainer.num_images
    recipe, test_images = model.recipe, test_set[0].to(trainer.device)
    steps = math.ceil(num_images / recipe.batch_size)  # per epoch
    schedule = named(recipe.schedule, recipe.lr, recipe.num_epochs)
    rates = per_step(schedule, recipe.num_epochs, steps)
    while len(progress.epochs) < recipe.num_epochs:
        number, resumed = len(progress.epochs) + 1, len(progress.losses) > 0
        own_rates = rates[(number - 1) * steps : number * steps]
        for reached in _epoch(trainer, own_rates, seed, number, progress, on_step):
            _check_finite(reached.losses, number, recipe.lr)
            if len(reached.losses) < steps:
                yield reached
        # cumsum adds in the order of the steps
        mean_loss = reached.losses.cumsum(0)[-1].item() / num_images
        right = accuracy(predict(model, test_images), test_set[1])
        epoch = Epoch(number, mean_loss, right, reached.seconds, resumed)
        progress = Progress([*progress.epochs, epoch])
        yield progress


def _epoch(
    trainer: Trainer,
    rates: Sequence[float],
    seed: int,
    epoch: int,
    progress: Progress,
    on_step: Callable[[int], object],
) -> Iterator[Progress]:
    """Take an epoch's remaining steps; yield the progress occasionally, and at its end."""
    model, done = trainer.model, len(progress.losses)
    start = read_clock(model.devices)
    generator = epoch_generator(seed, epoch)
    batches = shuffled(trainer.num_images, generator).to(trainer.device)
    batches = batches.split(model.recipe.batch_size)
    trainer.vary(model.recipe.augment, generator)
    losses = torch.zeros(len(batches), dtype=torch.float64, device=trainer.device)
    if model.processes.rank == 0:  # earlier losses are sums over all processes: count them once
        losses[:done] = progress.losses.to(trainer.device)
    timer = _SaveTimer(model.processes)

    def pause(images: int) -> bool:
        on_step(images)
        return timer.due()

    seconds = progress.seconds
    while done < len(batches):
        done = trainer.take(batches, rates, losses, done, pause)
        seconds += read_clock(model.devices) - start
        yield Progress(progress.epochs, model.processes.total(losses)[:done].cpu(), seconds)
        start = read_clock(model.devices)
        timer.restart()


def _check_finite(losses: Tensor, epoch: int, lr: float) -> None:
    """Raise if a loss is not finite; called rarely, since each check synchronizes a GPU."""
    bad = (~losses.isfinite()).nonzero()
    if len(bad):
        step = int(bad[0])
        raise DivergedError(
            f"the loss is {losses[step].item()} in epoch {epoch}, step {step + 1};"
            f" lower lr (it is {lr})"
        )


@torch.no_grad()
def predict(model: Model, images: Tensor, batch_size: int = 1000) -> Tensor:
    """Return the logits (n, 10) of uint8 images (n, 28, 28) on the CPU, computed on all devices.

    Every device uses the first replica's weights and running statistics.
    """

    def on_device(net: UInt8Input, device: torch.device, images: Tensor) -> Tensor:
        with torch.no_grad():  # again, since it applies per thread
            shards = images.tensor_split(per_device)
            parts = [X for shard in shards for X in shard.split(batch_size)]
            return torch.cat([net(X.to(device)).cpu() for X in parts])

    own_rows, num_devices = model.share(torch.arange(len(images))), len(model.devices)
    per_device = model.shards_per_device or 1
    shares = blocks(images[own_rows.to(images.device)], num_devices * per_device, num_devices)
    found = torch.cat(
        parallel_map(model.pool, on_device, model.evaluators(), model.devices, shares)
    )
    logits = found.new_zeros(len(images), found.shape[1])
    logits[own_rows] = found
    return model.processes.total(logits)
