"""Learning-rate schedules (12.11) as pure functions `schedule(t) -> rate` of t in epochs.

t may be fractional. A schedule has no state, so plotting it does not advance it, unlike some of the
book's.
"""

import math
from collections.abc import Callable, Sequence

from lab.core.shared_params import ScheduleName

Schedule = Callable[[float], float]
PEAK_SHARE = 0.25  # share of a run in which a one-cycle schedule rises


def constant(base: float) -> Schedule:
    """Return the constant schedule `base`."""
    return lambda t: base


def square_root(base: float) -> Schedule:
    """Return base (t + 1)^(-1/2)."""
    return lambda t: base * (t + 1) ** -0.5


def factor(base: float, decay: float, lowest: float) -> Schedule:
    """Return base decay^t, but at least `lowest`."""
    return lambda t: max(lowest, base * decay**t)


def multi_step(base: float, decay: float, milestones: Sequence[float]) -> Schedule:
    """Return `base`, multiplied by `decay` at each milestone."""
    return lambda t: base * decay ** sum(t >= milestone for milestone in milestones)


def cosine(base: float, final: float, end: float) -> Schedule:
    """Return half a cosine from `base` at 0 down to `final` at `end`, and `final` after that."""
    return lambda t: final + (base - final) * (1 + math.cos(math.pi * min(t, end) / end)) / 2


def inverse_sqrt(base: float, warmup: float) -> Schedule:
    """Return base sqrt(warmup / t), for use after a `warm_up` that long (Vaswani et al. 2017)."""
    return lambda t: base * min(1.0, (warmup / max(t, 1e-12)) ** 0.5)


def one_cycle(base: float, final: float, end: float, peak: float) -> Schedule:
    """Return lines from a tenth of `base` to `base` at `peak`, then to `final` at `end` (Smith)."""

    def rate(t: float) -> float:
        if t < peak:
            return base * (0.1 + 0.9 * t / peak)
        return base + (final - base) * min((t - peak) / (end - peak), 1.0)

    return rate


def warm_up(schedule: Schedule, length: float, shift: bool = True) -> Schedule:
    """Return a linear rise from 0 over `length` epochs, then the schedule.

    With `shift`, the schedule starts when the rise ends; without, the rise replaces its first part.
    """

    def rate(t: float) -> float:
        if t >= length:
            return schedule(t - length if shift else t)
        return schedule(0 if shift else length) * t / length

    return rate


def named(name: ScheduleName, base: float, num_epochs: int) -> Schedule:
    """Return a run's schedule: constant `base`, or one cycle that peaks at `base` and ends at 0."""
    if name == "constant":
        return constant(base)
    return one_cycle(base, 0.0, num_epochs, PEAK_SHARE * num_epochs)


def per_step(schedule: Schedule, num_epochs: int, steps_per_epoch: int) -> list[float]:
    """Return the rate of each step: the schedule at the middle of the step's time.

    At its beginning, a linear rise from 0 would waste the first step.
    """
    return [
        schedule((step + 0.5) / steps_per_epoch) for step in range(num_epochs * steps_per_epoch)
    ]


def after_epoch(schedule: Schedule, num_epochs: int, steps_per_epoch: int) -> list[float]:
    """Return the rate of each step in the book's loop: schedule(epoch), set after the epoch.

    The first epoch runs at the full rate, and the second at schedule(0), which is 0 with a warm-up.
    So every epoch lags by one, and the warm-up has no effect.
    """
    rates = [
        max(schedule(float(t)) for t in range(num_epochs)),
        *(schedule(float(epoch)) for epoch in range(num_epochs)),
    ]
    return [rate for rate in rates[:num_epochs] for _ in range(steps_per_epoch)]
