"""The notes' loop of training on one device, timed by an epoch's first steps."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lab.parallel.replicas import sgd
from lab.timing.clock import read_clock

PREFETCHED = 2  # batches that each worker of a loader holds ready


@dataclass
class EpochClock:
    """Times the first steps of an epoch, and says what a step of the whole epoch takes.

    The first `lead` steps hold what an epoch pays once: its loader's start, and batches for which
    all workers work at a time. They count in proportion, for the whole epoch as often as it has
    them. Of a turn that is a whole epoch the result is its time over its steps.
    """

    devices: Sequence[torch.device]
    steps: int
    whole: int  # steps of an epoch
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
        """A clock, started now, for `steps` steps on batches that so many processes load."""
        whole = ceil(num_images / batch_size)
        steps = min(steps, whole)
        lead = min(max(1, PREFETCHED * num_workers), steps - 1)
        return cls(devices, steps, whole, lead)

    def __post_init__(self) -> None:
        """Start."""
        self._start = self._after_lead = self._end = read_clock(self.devices)

    def step_done(self, done: int) -> None:
        """Hear that `done` steps are done."""
        self._end = read_clock(self.devices)  # as the notes do after each batch
        if done == self.lead:
            self._after_lead = self._end

    def seconds_per_step(self) -> float:
        """The mean over the epoch."""
        later = (self._end - self._after_lead) / (self.steps - self.lead)
        return (self._after_lead - self._start + (self.whole - self.lead) * later) / self.whole


def to_contiguous(net: nn.Module) -> nn.Module:
    """The net with its weights in torch's own order of memory."""
    return net.to(memory_format=torch.contiguous_format)  # type: ignore[call-overload,no-any-return,unused-ignore]


def notes_epoch(
    net: nn.Module, batches: Iterable[tuple[Tensor, Tensor]], lr: float, clock: EpochClock
) -> float:
    """Take the steps of an epoch, or as many as the clock is for; seconds per step of a whole one.

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
        clock.step_done(clock.whole)  # the loader has ended its workers
    return clock.seconds_per_step()
