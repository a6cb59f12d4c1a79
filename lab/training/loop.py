"""Training as in chapter 13: epochs over resident images, the same for every strategy."""

import math
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
from lab.training.shards import blocks
from lab.training.steps import Stepper
from lab.training.strategies.base import Strategy


@dataclass(frozen=True)
class Epoch:
    """One epoch: mean loss of its images, accuracy on the test images, seconds of training alone.

    `resumed` marks an epoch that was interrupted: its seconds are the sum of its parts.
    """

    epoch: int
    train_loss: float
    test_accuracy: float
    seconds: float
    resumed: bool = False


@dataclass(frozen=True)
class Progress:
    """Where a run stands: the epochs it has finished, and how far it is in the next one.

    `losses` are the summed losses of that epoch's steps so far (float64, over all processes),
    `seconds` what they took.
    """

    epochs: list[Epoch] = field(default_factory=list)
    losses: Tensor = field(default_factory=lambda: torch.zeros(0, dtype=torch.float64))
    seconds: float = 0.0

    @property
    def place(self) -> int:
        """A number that grows with each step."""
        return len(self.epochs) << 32 | len(self.losses)

    def state(self) -> dict[str, Any]:
        """The progress as tensors, numbers and lists, which a checkpoint may hold."""
        return {
            "epochs": [astuple(e) for e in self.epochs],
            "losses": self.losses,
            "seconds": self.seconds,
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "Progress":
        """The progress that `state` wrote down."""
        epochs = [Epoch(*values) for values in state["epochs"]]
        return cls(epochs, state["losses"], state["seconds"])


def train(
    stepper: Stepper,
    test_set: LabelledImages,
    seed: int,
    progress: Progress | None = None,
    on_step: Callable[[int], object] = lambda images: None,
    stopping: Callable[[], bool] = lambda: False,
) -> Iterator[Progress]:
    """Train by the strategy's recipe, the images' order from `seed`.

    Yields where the run stands after each epoch, and inside of one where it is `stopping`. Where
    the batch size does not divide the images, the last batch of an epoch is smaller.
    `on_step` hears how many images a step took, over all processes. The clock covers training
    only. With the `progress` of an earlier run, and its state loaded into the strategy, the run
    resumes bit for bit as that one would have.

    Raises:
        DivergedError: a step's loss is not finite.
    """
    progress, strategy, num_images = progress or Progress(), stepper.strategy, stepper.num_images
    recipe, test_images = strategy.recipe, test_set[0].to(strategy.devices[0])
    steps = math.ceil(num_images / recipe.batch_size)  # of an epoch
    schedule = named(recipe.schedule, recipe.lr, recipe.num_epochs)
    rates = per_step(schedule, recipe.num_epochs, steps)
    while len(progress.epochs) < recipe.num_epochs and not stepper.asked(stopping):
        number, resumed = len(progress.epochs) + 1, len(progress.losses) > 0
        own_rates = rates[(number - 1) * steps : number * steps]
        progress = _go_on(stepper, own_rates, seed, number, progress, on_step, stopping)
        _check_finite(progress.losses, number, recipe.lr)
        if len(progress.losses) < steps:
            yield progress
            return
        # cumsum adds in the order of the steps
        mean_loss = progress.losses.cumsum(0)[-1].item() / num_images
        right = accuracy(predict(strategy, test_images), test_set[1])
        epoch = Epoch(number, mean_loss, right, progress.seconds, resumed)
        progress = Progress([*progress.epochs, epoch])
        yield progress


def _go_on(
    stepper: Stepper,
    rates: Sequence[float],
    seed: int,
    epoch: int,
    progress: Progress,
    on_step: Callable[[int], object],
    stopping: Callable[[], bool],
) -> Progress:
    """Take the steps of an epoch that are left, all of them unless a process is stopping."""
    strategy, before = stepper.strategy, len(progress.losses)
    recipe = strategy.recipe
    start = read_clock(strategy.devices)
    generator = epoch_generator(seed, epoch)
    batches = shuffled(stepper.num_images, generator).to(stepper.device).split(recipe.batch_size)
    stepper.vary(recipe.augment, generator)
    losses = torch.zeros(len(batches), dtype=torch.float64, device=stepper.device)
    if strategy.is_first:  # the losses so far are of all processes: they count once
        losses[:before] = progress.losses.to(stepper.device)
    done = stepper.take(batches, rates, losses, before, on_step, stopping)
    seconds = read_clock(strategy.devices) - start
    losses = strategy.total(losses)[:done].cpu()
    return Progress(progress.epochs, losses, progress.seconds + seconds)


def _check_finite(losses: Tensor, epoch: int, lr: float) -> None:
    """Stop if a loss left the finite numbers; once an epoch, since each look waits for a GPU."""
    bad = (~losses.isfinite()).nonzero()
    if len(bad):
        step = int(bad[0])
        raise DivergedError(
            f"the loss is {losses[step].item()} in epoch {epoch}, step {step + 1};"
            f" lower lr (it is {lr})"
        )


@torch.no_grad()
def predict(strategy: Strategy, images: Tensor, batch_size: int = 1000) -> Tensor:
    """The logits (n, 10) of uint8 images (n, 28, 28), on the CPU, computed on all devices.

    Every device uses the first replica's weights and running statistics.
    """

    def on_device(net: UInt8Input, device: torch.device, images: Tensor) -> Tensor:
        with torch.no_grad():  # which holds for one thread only
            shards = images.tensor_split(strategy.shards_per_device)
            parts = [X for shard in shards for X in shard.split(batch_size)]
            return torch.cat([net(X.to(device)).cpu() for X in parts])

    mine = strategy.share(torch.arange(len(images)))
    num_devices = len(strategy.devices)
    shares = blocks(
        images[mine.to(images.device)], num_devices * strategy.shards_per_device, num_devices
    )
    found = torch.cat(
        parallel_map(strategy.pool, on_device, strategy.evaluators(), strategy.devices, shares)
    )
    logits = found.new_zeros(len(images), found.shape[1])
    logits[mine] = found
    return strategy.total(logits)
