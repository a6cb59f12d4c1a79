"""The notes' training loop on one device, timed by an epoch's first steps."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lab.parallel.replicas import sgd
from lab.timing.clock import read_clock

PREFETCHED = 2  # batches that each worker of a loader prefetches


@dataclass
class EpochClock:
    """A clock that times the first steps of an epoch, and extrapolates to the whole epoch.

    The first `lead` steps contain an epoch's one-time costs: starting its loader, and batches on
    which all workers start together. They count once; later steps stand for the rest of the epoch.
    For a whole epoch, the result is total time / steps.
    """

    devices: Sequence[torch.device]
    steps: int
    whole: int  # steps per epoch
    lead: int

    @classmethod
    def of(
        cls,
        devices: Sequence[torch.device],
        num_images: int,
        batch_size: int,
        steps: int,
        num_workers: int = 0,
    ) -> "EpochClock":
        """Start a clock for `steps` steps on batches that `num_workers` processes load."""
        whole = ceil(num_images / batch_size)
        steps = min(steps, whole)
        lead = min(max(1, PREFETCHED * num_workers), steps - 1)
        return cls(devices, steps, whole, lead)

    def __post_init__(self) -> None:
        self._start = self._after_lead = self._end = read_clock(self.devices)

    def step_done(self, done: int) -> None:
        """Note the time after `done` steps."""
        self._end = read_clock(self.devices)  # synchronize after each batch, as the notes do
        if done == self.lead:
            self._after_lead = self._end

    def seconds_per_step(self) -> float:
        """Return the mean over the epoch."""
        later = (self._end - self._after_lead) / (self.steps - self.lead)
        return (self._after_lead - self._start + (self.whole - self.lead) * later) / self.whole


def to_contiguous(net: nn.Module) -> nn.Module:
    """Return the net with its weights in torch's default memory format."""
    return net.to(memory_format=torch.contiguous_format)  # type: ignore[call-overload,no-any-return,unused-ignore]


def notes_epoch(
    net: nn.Module, batches: Iterable[tuple[Tensor, Tensor]], lr: float, clock: EpochClock
) -> float:
    """Take an epoch's steps, or only the clock's; return seconds per step of a whole epoch.

    A batch is float images (n, 1, 28, 28) and labels (n,).
    """
    [device] = clock.devices
    for done, (X, y) in enumerate(batches, 1):
        loss = F.cross_entropy(net(X.to(device)), y.to(device), reduction="none").sum()
        loss.backward()
        sgd(net.parameters(), lr, len(X))
        clock.step_done(done)
        if done == clock.steps < clock.whole:
            break
    else:
        clock.step_done(clock.whole)  # includes the end of the loader's workers
    return clock.seconds_per_step()
