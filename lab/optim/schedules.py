"""Learning-rate schedules (12.11) as pure functions `schedule(t) -> rate` of t in epochs.

t may be a fraction. A schedule holds no state, so that plotting it does not move it on; some of the
book's do move.
"""

import math
from collections.abc import Callable, Sequence

from lab.core.shared_params import ScheduleName

Schedule = Callable[[float], float]
PEAK_SHARE = 0.25  # of a run, in which its one cycle rises


def constant(base: float) -> Schedule:
    """`base` at all times."""
    return lambda t: base


def square_root(base: float) -> Schedule:
    """base (t + 1)^(-1/2)."""
    return lambda t: base * (t + 1) ** -0.5


def factor(base: float, decay: float, lowest: float) -> Schedule:
    """base decay^t, not below `lowest`."""
    return lambda t: max(lowest, base * decay**t)


def multi_step(base: float, decay: float, milestones: Sequence[float]) -> Schedule:
    """`base`, times `decay` from each milestone on."""
    return lambda t: base * decay ** sum(t >= milestone for milestone in milestones)


def cosine(base: float, final: float, end: float) -> Schedule:
    """Half a cosine from `base` at 0 down to `final` at `end`, and `final` after it."""
    return lambda t: final + (base - final) * (1 + math.cos(math.pi * min(t, end) / end)) / 2


def inverse_sqrt(base: float, warmup: float) -> Schedule:
    """base sqrt(warmup / t), to follow a `warm_up` of that length (Vaswani et al. 2017)."""
    return lambda t: base * min(1.0, (warmup / max(t, 1e-12)) ** 0.5)


def one_cycle(base: float, final: float, end: float, peak: float) -> Schedule:
    """A line from a tenth of `base` up to `base` at `peak`, another to `final` at `end` (Smith)."""

    def rate(t: float) -> float:
        if t < peak:
            return base * (0.1 + 0.9 * t / peak)
        return base + (final - base) * min((t - peak) / (end - peak), 1.0)

    return rate


def warm_up(schedule: Schedule, length: float, shift: bool = True) -> Schedule:
    """A linear rise from 0 to the schedule's start over `length` epochs, then the schedule.

    With `shift` the schedule begins where the rise ends; without, the rise covers its first part.
    """

    def rate(t: float) -> float:
        if t >= length:
            return schedule(t - length if shift else t)
        return schedule(0 if shift else length) * t / length

    return rate


def named(name: ScheduleName, base: float, num_epochs: int) -> Schedule:
    """A run's schedule: `base` throughout, or one cycle that peaks at `base` and ends at 0."""
    if name == "constant":
        return constant(base)
    return one_cycle(base, 0.0, num_epochs, PEAK_SHARE * num_epochs)


def per_step(schedule: Schedule, num_epochs: int, steps_per_epoch: int) -> list[float]:
    """The rate of each step, the schedule being read before it, for the middle of its time.

    The middle and not the beginning, so that a linear rise from 0 does not waste its first step.
    """
    return [
        schedule((step + 0.5) / steps_per_epoch) for step in range(num_epochs * steps_per_epoch)
    ]


def after_epoch(schedule: Schedule, num_epochs: int, steps_per_epoch: int) -> list[float]:
    """The rate of each step as the book's loop has it: schedule(epoch), set after the epoch.

    The first epoch runs at the full rate and the second at schedule(0), which a warm-up makes 0:
    every epoch lags by one, and the warm-up is never tried.
    """
    rates = [
        max(schedule(float(t)) for t in range(num_epochs)),
        *(schedule(float(epoch)) for epoch in range(num_epochs)),
    ]
    return [rate for rate in rates[:num_epochs] for _ in range(steps_per_epoch)]
