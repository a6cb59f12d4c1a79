"""The schedule in a browser, against lab/optim/schedules.py."""

from itertools import product

import pytest

from lab.optim import schedules
from stages.schedules.measure import book_schedules, names
from stages.schedules.page.explorables import rate_schedule
from tests.explored import CHROMIUM, WHY_SKIPPED, check_keyboard, moved, opened

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason=WHY_SKIPPED)]
FINAL, EPOCHS, STEPS_PER_EPOCH = book_schedules.FINAL, book_schedules.EPOCHS, 10


def schedule_of(kind, base, warm_up):
    """As the notes' figure has it, but for the base rate and the length of the warm-up."""
    if kind == "one_cycle":
        return schedules.one_cycle(base, FINAL, EPOCHS, peak=6)
    if kind == "inverse_sqrt":
        falling = schedules.inverse_sqrt(base, max(warm_up, 1))
        return schedules.warm_up(falling, warm_up, shift=False)
    schedule = {
        "constant": schedules.constant(base),
        "square_root": schedules.square_root(base),
        "factor": schedules.factor(base, 0.9, FINAL),
        "multi_step": schedules.multi_step(base, 0.5, (10, 15)),
        "cosine": schedules.cosine(base, FINAL, EPOCHS - warm_up),
    }[kind]
    return schedules.warm_up(schedule, warm_up)


def test_every_schedule_set_before_a_step_and_after_an_epoch():
    [kinds] = [c.options for c in rate_schedule().controls if c.name == "kind"]
    ways = {"step": schedules.per_step, "epoch": schedules.after_epoch}
    with opened("schedules", rate_schedule()) as [root]:
        for kind, when, (base, warm_up) in product(
            kinds, ways, ((0.3, 5), (0.3, 0), (0.02, 10), (0.5, 1))
        ):
            wanted = {"kind": kind, "when": when, "base": base, "warmup": warm_up}
            at, told = moved(root, wanted)
            assert at == wanted
            rates = ways[when](schedule_of(kind, base, warm_up), EPOCHS, STEPS_PER_EPOCH)
            assert told == pytest.approx(
                {
                    "first": rates[0],
                    "highest": max(rates),
                    "last": rates[-1],
                    "mean": sum(rates) / len(rates),
                },
                rel=1e-9,
                abs=0,
            ), wanted
        check_keyboard(root, "base", "mean")


def test_the_settings_are_those_of_the_notes():
    of_the_notes = {
        "constant": (names.CONSTANT, 0),
        "square_root": (names.SQUARE_ROOT, 0),
        "factor": (names.FACTOR, 0),
        "multi_step": (names.MULTI_STEP, 0),
        "cosine": (names.COSINE_WARM_UP, 5),
        "inverse_sqrt": (names.INVERSE_SQRT_WARM_UP, 5),
        "one_cycle": (names.ONE_CYCLE, 0),
    }
    for kind, (name, warm_up) in of_the_notes.items():
        ours, notes = (
            schedule_of(kind, book_schedules.BASE, warm_up),
            book_schedules.SCHEDULES[name],
        )
        assert [ours(t / 10) for t in range(200)] == [notes(t / 10) for t in range(200)], kind
