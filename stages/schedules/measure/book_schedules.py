"""The book's schedules and two that it lacks, with the settings of the notes' figure, drawn."""

from collections.abc import Iterator

import numpy as np

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
from lab.results.curves import Curve, line
from stages.schedules.measure import names

# the notes' figure: 0.3 -> 0.01 in 20 epochs, 5 of warm-up
BASE, FINAL, EPOCHS, WARM_UP_EPOCHS = 0.3, 0.01, 20, 5
SCHEDULES: dict[str, Schedule] = {
    names.CONSTANT: constant(BASE),
    names.SQUARE_ROOT: square_root(BASE),
    names.FACTOR: factor(BASE, 0.9, FINAL),
    names.MULTI_STEP: multi_step(BASE, 0.5, (10, 15)),
    names.COSINE: cosine(BASE, FINAL, EPOCHS),
    names.COSINE_WARM_UP: warm_up(cosine(BASE, FINAL, EPOCHS - WARM_UP_EPOCHS), WARM_UP_EPOCHS),
    names.INVERSE_SQRT_WARM_UP: warm_up(
        inverse_sqrt(BASE, WARM_UP_EPOCHS), WARM_UP_EPOCHS, shift=False
    ),
    names.ONE_CYCLE: one_cycle(BASE, FINAL, EPOCHS, peak=6),
}


def drawn() -> Iterator[Curve]:
    """Each schedule over 20 epochs, and the notes' last one as the book's code applies it."""
    t = np.arange(0, EPOCHS, 0.1)
    for name, schedule in SCHEDULES.items():
        yield line(names.SCHEDULE, name, t, [schedule(x) for x in t])
    as_the_book = after_epoch(SCHEDULES[names.COSINE_WARM_UP], EPOCHS, 10)
    yield line(names.SCHEDULE, names.AS_THE_BOOK, t, as_the_book)
