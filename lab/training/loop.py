"""The training loop of chapter 13: epochs over resident images, one step per batch, the same for
every strategy.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import astuple, dataclass, field
from typing import Any

import torch
from torch import Tensor

from lab.core.errors import DivergedError
from lab.data.images import LabelledImages
from lab.data.order import epoch_order
from lab.nets.models import OnBytes
from lab.parallel.device_workers import run_each
from lab.timing.clock import read_clock
from lab.training.strategies import Strategy

WARM_UP_IMAGES = 32  # for each device


@dataclass(frozen=True)
class Epoch:
    """What one epoch gave: mean loss over its images, accuracy on the test images, seconds of
    training alone.

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

    def state(self) -> dict[str, Any]:
        """Return it as tensors, numbers and lists, which a checkpoint may hold."""
        return {
            "epochs": [astuple(e) for e in self.epochs],
            "losses": self.losses,
            "seconds": self.seconds,
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "Progress":
        """Return the progress that `state` wrote down."""
        return cls(
            [Epoch(*values) for values in state["epochs"]], state["losses"], state["seconds"]
        )


@torch.no_grad()
def predict(strategy: Strategy, images: Tensor, batch_size: int = 1000) -> Tensor:
    """Return the logits (n, 10) for uint8 images (n, 28, 28), on the CPU, computed on all devices.

    Every device uses the first replica's weights and running statistics.
    """

    def on_device(net: OnBytes, device: torch.device, images: Tensor) -> Tensor:
        with torch.no_grad():  # which holds for one thread only
            return torch.cat([net(X.to(device)).cpu() for X in images.split(batch_size)])

    mine = strategy.share(torch.arange(len(images)))
    shards = images[mine.to(images.device)].tensor_split(len(strategy.devices))
    found = torch.cat(
        run_each(strategy.pool, on_device, strategy.evaluators(), strategy.devices, shards)
    )
    logits = found.new_zeros(len(images), found.shape[1])
    logits[mine] = found
    return strategy.total(logits)


def train(
    strategy: Strategy,
    train_set: LabelledImages,
    test_set: LabelledImages,
    batch_size: int,
    lr: float,
    num_epochs: int,
    seed: int,
    progress: Progress | None = None,
    on_step: Callable[[int], object] = lambda images: None,
    stopping: Callable[[], bool] = lambda: False,
) -> Iterator[Progress]:
    """Yield where the run stands after each epoch, and once more in the middle of one if it is
    `stopping`.

    The sets are moved to the first device once. Where the batch size does not divide them, the last
    batch of an epoch is smaller. `on_step` hears how many images a step took, over all processes.
    The clock covers training only; one step whose result is thrown away warms the machine up before
    it. With the `progress` of an earlier run, and its state loaded into the strategy, the run goes
    on bit for bit as that one would have.

    Raises:
        DivergedError: a step's loss is not finite.
    """
    first = strategy.devices[0]
    images, labels = (tensor.to(first) for tensor in train_set)
    test_images, test_labels = test_set[0].to(first), test_set[1]
    progress = progress or Progress()

    def step(batch: Tensor) -> Tensor:
        mine = strategy.share(batch)
        return strategy.step(
            images.index_select(0, mine), labels.index_select(0, mine), lr, len(batch)
        )

    _warm_up(strategy, step, len(images), batch_size)
    while len(progress.epochs) < num_epochs and not strategy.any(stopping()):
        epoch = len(progress.epochs) + 1
        batches = epoch_order(len(images), seed, epoch).to(first).split(batch_size)
        done = len(progress.losses)
        losses = torch.zeros(len(batches), dtype=torch.float64, device=first)
        if strategy.is_first:
            losses[:done] = progress.losses.to(first)
        start = read_clock(strategy.devices)
        for i in range(done, len(batches)):
            losses[i] = step(batches[i])
            on_step(len(batches[i]))
            done = i + 1
            if done < len(batches) and strategy.any(stopping()):
                break
        seconds = progress.seconds + read_clock(strategy.devices) - start
        losses = strategy.total(losses)[:done].cpu()
        _check_finite(losses, epoch, lr)
        if done < len(batches):
            yield Progress(progress.epochs, losses, seconds)
            return
        accuracy = (predict(strategy, test_images).argmax(1) == test_labels).sum().item() / len(
            test_labels
        )
        # cumsum adds in the order of the steps
        mean_loss = losses.cumsum(0)[-1].item() / len(images)
        result = Epoch(epoch, mean_loss, accuracy, seconds, resumed=len(progress.losses) > 0)
        progress = Progress([*progress.epochs, result])
        yield progress


def _warm_up(
    strategy: Strategy, step: Callable[[Tensor], Tensor], num_images: int, batch_size: int
) -> None:
    """Take a small step and forget it: threads, kernels, communicators and buckets are then made.

    A compiled net takes one of each size that will come, since each is compiled for itself.
    """
    state = strategy.state()
    small = min(num_images, WARM_UP_IMAGES * len(strategy.devices) * strategy.num_processes)
    for size in {batch_size, num_images % batch_size} - {0} if strategy.compiled else {small}:
        step(torch.arange(size, device=strategy.devices[0]))
    strategy.load_state(state)


def _check_finite(losses: Tensor, epoch: int, lr: float) -> None:
    """Stop where the loss left the finite numbers; looked at once an epoch, because each look waits
    for a GPU.
    """
    bad = (~losses.isfinite()).nonzero()
    if len(bad):
        step = int(bad[0])
        raise DivergedError(
            f"the loss is {losses[step].item()} in epoch {epoch}, step {step + 1}; lower lr (it is"
            f" {lr})"
        )
