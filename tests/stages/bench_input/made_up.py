"""Made-up results of bench_input, as a CPU or a GPU would leave them."""

from lab.machine.devices import DeviceKind
from lab.results.measurements import Measurement
from stages.bench_input import __main__ as bench_input
from stages.bench_input.measure import names
from tests.made_up import one

EPOCH = 60_000


def measurements(kind: DeviceKind) -> list[Measurement]:
    made = []
    for feed, speed, images in (
        (names.BOOK, 1, EPOCH),
        (names.PERSISTENT, 2, 7680),
        (names.NO_WORKERS, 3, 7680),
        (names.RESIDENT, 200, EPOCH),
    ):
        made += [
            one(names.FIRST_BATCH, feed, 80, kind, images),
            one(names.IMAGES, feed, 20_000 * speed, kind, images, "images/s"),
        ]
        if images == EPOCH:
            made.append(one(names.EPOCH, feed, 3 / speed, kind, images, "s"))
    slower = {names.RESIDENT: 1, names.NO_WORKERS: 1.5, names.BOOK: 2}
    for net, feeds in names.FEEDS.items():
        for feed in feeds:
            seconds = {part: slower[feed] * (2.0 + i) for i, part in enumerate(names.PARTS)}
            seconds[names.WHOLE] = sum(seconds.values())
            made += [
                one(names.step(feed), names.part_of(net, part), ms, kind, 256)
                for part, ms in seconds.items()
            ]
    return [
        *made,
        one(names.PREPARATION, names.READ, 1, kind, 256),
        one(names.PREPARATION, names.PREPROCESS, 9, kind, 256),
        one(names.PYTHON, names.STEP, 2, kind, 16),
        one(names.PYTHON, names.STEP, 20, kind, 256),
        one(names.PYTHON, names.CALLS, 1, kind, 2),
    ]


def summary(made: list[Measurement]) -> dict[str, float | str]:
    """Return the stage's own metrics of what it measured, its conditions apart."""
    return bench_input.summarise(made)
