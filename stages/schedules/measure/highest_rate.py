"""The highest rate at which a net still learns, with warm-up and without, for each seed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch

from lab.core.errors import LabError
from lab.data.images import Images
from lab.optim.schedules import Schedule, cosine, warm_up
from lab.parallel.workers import map_with_progress
from lab.results.curves import Curve, line
from lab.training.short_training import make_net
from stages.schedules.measure import names
from stages.schedules.measure.book_schedules import BASE, EPOCHS, FINAL, WARM_UP_EPOCHS
from stages.schedules.measure.params import RunParams
from stages.schedules.measure.short_runs import Losses, diverged, onset, stretched, train

DOUBLINGS = 20  # of a rate, or halvings, until the search gives up


@dataclass(frozen=True)
class Edge:
    """The highest stable rate that was found, the next one, and the losses at both."""

    stable: float
    diverging: float
    below: Losses
    above: Losses


@dataclass(frozen=True)
class Trainer:
    """Runs of one net, from any seed."""

    net: str
    side: int
    train_set: Images
    params: RunParams

    def losses(self, schedule: Schedule, seed: int) -> Losses:
        """The losses of a run: the same weights and order of the images for the same seed."""
        generator = torch.Generator().manual_seed(seed)
        net = make_net(self.net, generator, self.side).to(self.train_set.X.device)
        rates = stretched(schedule, self.params.steps)
        return train(net, self.train_set, rates, self.params.batch_size, generator)


def schedule_of(variant: str, base: float) -> Schedule:
    """The notes' schedule: a cosine down to a thirtieth of `base`, behind 5 epochs of warm-up.

    Without warm-up the cosine takes the 20 epochs.
    """
    final = base * FINAL / BASE
    if variant == names.NO_WARM_UP:
        return cosine(base, final, EPOCHS)
    return warm_up(cosine(base, final, EPOCHS - WARM_UP_EPOCHS), WARM_UP_EPOCHS)


def find_edge(losses_at: Callable[[float], Losses], first: float, resolution: float) -> Edge:
    """Bisect, on a logarithmic scale, between a rate that is stable and one that is not.

    Both are found from `first` by doubling or halving.

    Raises:
        LabError: no rate learns, or each does.
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
        raise LabError(f"{what} from rate {first:g} to {rate:g}; try more schedules steps")
    while found[True][0] / found[False][0] > resolution:
        rate = (found[True][0] * found[False][0]) ** 0.5
        losses = losses_at(rate)
        found[diverged(losses)] = rate, losses
    return Edge(found[False][0], found[True][0], found[False][1], found[True][1])


def measure_highest_rate(trainer: Trainer, seed: int) -> Iterator[Curve]:
    """A net's highest stable rates, and when without warm-up it diverges beyond, by seed."""
    params, device = trainer.params, trainer.train_set.X.device

    def edge(job: tuple[str, int]) -> Edge:
        variant, i = job
        return find_edge(
            lambda rate: trainer.losses(schedule_of(variant, rate), seed + i),
            params.first_rate,
            params.resolution,
        )

    seeds = range(params.seeds)
    jobs = [(variant, i) for i in seeds for variant in names.VARIANTS]
    edges = map_with_progress(names.STABLE_RATE, edge, jobs, device)
    for variant in names.VARIANTS:
        series = names.variant_of(trainer.net, variant)
        yield line(names.STABLE_RATE, series, seeds, [edges[variant, i].stable for i in seeds])
    plain = [edges[names.NO_WARM_UP, i] for i in seeds]
    series = names.variant_of(trainer.net, names.NO_WARM_UP)
    yield line(names.ONSET, series, seeds, [onset(edge.above) for edge in plain])
    for side, losses in ((names.STABLE, plain[0].below), (names.DIVERGING, plain[0].above)):
        drawn = np.where(np.isfinite(losses), losses, np.nan)
        yield line(names.LOSSES, names.variant_of(trainer.net, side), range(len(drawn)), drawn)
