"""Training as in chapter 13: epochs over resident images, the same for every strategy."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Any

import torch
from torch import Tensor

from lab.core.errors import DivergedError
from lab.core.shared_params import Augmentation, ScheduleName
from lab.data.images import LabelledImages
from lab.data.order import epoch_generator, shuffled
from lab.nets.models import UInt8Input
from lab.optim.schedules import named, per_step
from lab.parallel.workers import parallel_map
from lab.timing.clock import read_clock
from lab.training.shards import blocks
from lab.training.steps import Stepper
from lab.training.strategies.base import Strategy


@dataclass(frozen=True)
class Plan:
    """What a run is to do: epochs of SGD at a schedule's rates, the images' order from a seed."""

    batch_size: int
    lr: float
    num_epochs: int
    seed: int
    schedule: ScheduleName = "constant"
    augment: Augmentation = "none"

    def steps_per_epoch(self, num_images: int) -> int:
        """The batches of so many images, of which the last may be smaller."""
        return math.ceil(num_images / self.batch_size)

    def rates(self, num_images: int) -> list[float]:
        """The rate of each of the run's steps."""
        schedule = named(self.schedule, self.lr, self.num_epochs)
        return per_step(schedule, self.num_epochs, self.steps_per_epoch(num_images))


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
    plan: Plan,
    progress: Progress | None = None,
    on_step: Callable[[int], object] = lambda images: None,
    stopping: Callable[[], bool] = lambda: False,
) -> Iterator[Progress]:
    """Yield where the run stands after each epoch, and inside of one where it is `stopping`.

    Where the batch size does not divide the images, the last batch of an epoch is smaller.
    `on_step` hears how many images a step took, over all processes. The clock covers training
    only. With the `progress` of an earlier run, and its state loaded into the strategy, the run
    goes on bit for bit as that one would have.

    Raises:
        DivergedError: a step's loss is not finite.
    """
    progress, strategy, num_images = progress or Progress(), stepper.strategy, stepper.num_images
    test_images, test_labels = test_set[0].to(strategy.devices[0]), test_set[1]
    rates = plan.rates(num_images)
    while len(progress.epochs) < plan.num_epochs and not stepper.asked(stopping):
        number, resumed = len(progress.epochs) + 1, len(progress.losses) > 0
        progress = _go_on(stepper, plan, rates, number, progress, on_step, stopping)
        _check_finite(progress.losses, number, plan.lr)
        if len(progress.losses) < plan.steps_per_epoch(num_images):
            yield progress
            return
        # cumsum adds in the order of the steps
        mean_loss = progress.losses.cumsum(0)[-1].item() / num_images
        right = (predict(strategy, test_images).argmax(1) == test_labels).sum().item()
        accuracy = right / len(test_labels)
        epoch = Epoch(number, mean_loss, accuracy, progress.seconds, resumed)
        progress = Progress([*progress.epochs, epoch])
        yield progress


def _go_on(
    stepper: Stepper,
    plan: Plan,
    rates: Sequence[float],
    epoch: int,
    progress: Progress,
    on_step: Callable[[int], object],
    stopping: Callable[[], bool],
) -> Progress:
    """Take the steps of an epoch that are left, all of them unless a process is stopping."""
    strategy, before = stepper.strategy, len(progress.losses)
    start = read_clock(strategy.devices)
    generator = epoch_generator(plan.seed, epoch)
    batches = shuffled(stepper.num_images, generator).to(stepper.device).split(plan.batch_size)
    stepper.vary(plan.augment, generator)
    losses = torch.zeros(len(batches), dtype=torch.float64, device=stepper.device)
    if strategy.is_first:  # the losses so far are of all processes: they count once
        losses[:before] = progress.losses.to(stepper.device)
    own_rates = rates[(epoch - 1) * len(batches) : epoch * len(batches)]
    done = stepper.take(batches, own_rates, losses, before, on_step, stopping)
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
