"""The book's schedules and two more: their rates, and LeNet trained under each."""

from collections.abc import Iterator
from itertools import product

import numpy as np
import torch

from lab.data.images import Images
from lab.optim.schedules import (
    Schedule,
    after_epoch,
    constant,
    cosine,
    factor,
    inverse_sqrt,
    multi_step,
    one_cycle,
    square_root,
    warm_up,
)
from lab.parallel.workers import map_with_progress
from lab.results.measurements import Measurement, by_seed, line
from lab.training.short_training import SmallLeNet, accuracy_or_chance, batches_of, sgd_steps
from stages.schedules.measure.names import AS_THE_BOOK, BASE, CONSTANT
from stages.schedules.measure.params import ScheduleParams

# the notes' figure: BASE -> 0.01 in 20 epochs, 5 of warm-up
FINAL, EPOCHS, WARM_UP_EPOCHS = 0.01, 20, 5


def with_warm_up(base: float, final: float) -> Schedule:
    """Return the notes' last schedule: 5 epochs of warm-up, then a cosine over the other 15."""
    return warm_up(cosine(base, final, EPOCHS - WARM_UP_EPOCHS), WARM_UP_EPOCHS)


SCHEDULES: dict[str, Schedule] = {
    CONSTANT: constant(BASE),
    "square root": square_root(BASE),
    "factor 0.9": factor(BASE, 0.9, FINAL),
    "multi-step": multi_step(BASE, 0.5, (10, 15)),
    "cosine": cosine(BASE, FINAL, EPOCHS),
    "cosine, warm-up": with_warm_up(BASE, FINAL),
    "inverse sqrt, warm-up": warm_up(
        inverse_sqrt(BASE, WARM_UP_EPOCHS), WARM_UP_EPOCHS, shift=False
    ),
    "one-cycle": one_cycle(BASE, FINAL, EPOCHS, peak=6),
}


def stretched(schedule: Schedule, steps: int) -> list[float]:
    """Stretch the schedule's 20 epochs to `steps` steps; return the rate of each step."""
    return [schedule(EPOCHS * (step + 0.5) / steps) for step in range(steps)]


def as_the_book(steps_per_epoch: int) -> list[float]:
    """Return the notes' last schedule as the book's loop applies it: set after each epoch."""
    return after_epoch(SCHEDULES["cosine, warm-up"], EPOCHS, steps_per_epoch)


def drawn() -> Iterator[Measurement]:
    """Yield each schedule's rate over 20 epochs."""
    t = np.arange(0, EPOCHS, 0.1)
    for name, schedule in SCHEDULES.items():
        yield from line("schedule", name, t, [schedule(x) for x in t])
    yield from line("schedule", AS_THE_BOOK, t, as_the_book(10))


def try_schedules(
    train_set: Images, test_set: Images, params: ScheduleParams, seed: int
) -> Iterator[Measurement]:
    """Yield the final test accuracy (percent) under each schedule, by seed."""
    rates = {name: stretched(schedule, params.steps) for name, schedule in SCHEDULES.items()}
    # 20 epochs in `steps` steps
    rates[AS_THE_BOOK] = as_the_book(params.steps)[EPOCHS // 2 :: EPOCHS]
    device, seeds = train_set.y.device, range(params.num_seeds)

    def run(job: tuple[str, int]) -> float:
        name, i = job
        generator = torch.Generator().manual_seed(seed + i)
        net = SmallLeNet(generator, params.image_side).to(device)
        for _ in sgd_steps(net, batches_of(train_set, params.batch_size, generator), rates[name]):
            pass
        return 100 * accuracy_or_chance(net, test_set)

    found = map_with_progress("schedule_accuracy", run, product(rates, seeds), device)
    for name in rates:
        yield by_seed("schedule_accuracy", name, [found[name, i] for i in seeds])
