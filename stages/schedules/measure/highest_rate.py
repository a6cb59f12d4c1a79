"""The highest rate at which a net still learns, with and without warm-up, for each seed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import torch

from lab.core.errors import LabError
from lab.data.images import Images
from lab.optim.schedules import Schedule, cosine
from lab.parallel.workers import map_with_progress
from lab.results.measurements import Measurement, by_seed, line
from lab.training.short_training import (
    NOTHING_LEARNED,
    TENTHS,
    Losses,
    batches_of,
    diverged,
    make_net,
    mean_of_tenths,
    sgd_steps,
)
from stages.schedules.measure.by_schedule import EPOCHS, FINAL, stretched, with_warm_up
from stages.schedules.measure.names import BASE, NO_WARM_UP, WARM_UP
from stages.schedules.measure.params import SearchParams

TOO_HIGH = (1, 2, 4)  # times the lowest diverging rate found
DOUBLINGS = 20  # or halvings of a rate, until the search gives up


@dataclass(frozen=True)
class StabilityLimit:
    """The highest stable rate and the lowest diverging rate found, and the losses at both."""

    stable: float
    diverging: float
    below: Losses
    above: Losses


@dataclass(frozen=True)
class RateSearch:
    """Runs of one net, for any seed."""

    net: str
    side: int
    train_set: Images
    params: SearchParams

    def losses(self, schedule: Schedule, seed: int) -> Losses:
        """Return the mean loss before each step of SGD; infinite from the first non-finite one on.

        The seed decides the weights and the order of the images.
        """
        batch_size, rates = self.params.batch_size, stretched(schedule, self.params.steps)
        generator = torch.Generator().manual_seed(seed)
        net = make_net(self.net, generator, self.side).to(self.train_set.y.device)
        batches = batches_of(self.train_set, batch_size, generator)
        losses = np.full(len(rates), np.inf)
        for i, loss in enumerate(sgd_steps(net, batches, rates)):
            if not loss.isfinite():
                break
            losses[i] = float(loss) / batch_size
        return losses


def measure_highest_rate(trainer: RateSearch, seed: int) -> Iterator[Measurement]:
    """Yield a net's highest stable rates, and when higher ones diverge without warm-up, by seed."""
    params, device = trainer.params, trainer.train_set.y.device

    def limit(job: tuple[int, str]) -> StabilityLimit:
        i, variant = job
        return bisect_limit(
            lambda rate: trainer.losses(schedule_of(variant, rate), seed + i),
            params.first_rate,
            params.resolution,
        )

    seeds, variants = range(params.seeds), (NO_WARM_UP, WARM_UP)
    limits = map_with_progress("highest_stable_rate", limit, product(seeds, variants), device)
    plain = [limits[i, NO_WARM_UP] for i in seeds]

    def onset(job: tuple[int, float]) -> float:
        i, times = job
        if times == 1:  # the search already ran it
            return divergence_time(plain[i].above)
        return divergence_time(
            trainer.losses(schedule_of(NO_WARM_UP, times * plain[i].diverging), seed + i)
        )

    onsets = map_with_progress("divergence_onset", onset, product(seeds, TOO_HIGH), device)
    measured = [
        *(
            by_seed("highest_stable_rate", variant, [limits[i, variant].stable for i in seeds])
            for variant in variants
        ),
        *(
            by_seed("divergence_onset", NO_WARM_UP, [onsets[i, times] for i in seeds], times)
            for times in TOO_HIGH
        ),
    ]
    for side, losses in (("still learns", plain[0].below), ("diverges", plain[0].above)):
        finite = np.where(np.isfinite(losses), losses, np.nan)
        measured += line("losses", side, range(len(finite)), finite)
    for m in measured:
        yield replace(m, columns={"net": trainer.net})


def schedule_of(variant: str, base: float) -> Schedule:
    """Return the notes' schedule: 5 epochs of warm-up, then a cosine to a thirtieth of `base`.

    Without warm-up, the cosine takes all 20 epochs.
    """
    final = base * FINAL / BASE
    return cosine(base, final, EPOCHS) if variant == NO_WARM_UP else with_warm_up(base, final)


def bisect_limit(
    losses_at: Callable[[float], Losses], first: float, resolution: float
) -> StabilityLimit:
    """Bisect on a logarithmic scale between a stable and a diverging rate.

    Doubling or halving finds both, starting at `first`.

    Raises:
        LabError: no rate learns, or every rate does.
    """
    found: dict[bool, tuple[float, Losses]] = {}
    rate = first
    for _ in range(DOUBLINGS):
        losses = losses_at(rate)
        lost = diverged(losses)
        found[lost] = rate, losses
        if len(found) == 2:
            break
        rate = rate / 2 if lost else 2 * rate
    else:
        what = "no run learns" if True in found else "every run learns"
        raise LabError(f"{what} from rate {first:g} to {rate:g}; try more steps in schedules")
    while found[True][0] / found[False][0] > resolution:
        rate = (found[True][0] * found[False][0]) ** 0.5
        losses = losses_at(rate)
        found[diverged(losses)] = rate, losses
    return StabilityLimit(found[False][0], found[True][0], found[False][1], found[True][1])


def divergence_time(losses: Losses) -> float:
    """Return the percentage of a diverged run before the final tenths, which learn nothing."""
    learned = np.flatnonzero(mean_of_tenths(losses) < NOTHING_LEARNED)
    return 100 * (learned[-1] + 1) / TENTHS if len(learned) else 0.0
