"""Made-up results of bench_input, as a CPU or a GPU would leave them."""

from lab.machine.devices import DeviceKind
from lab.results.measurements import Measurement
from stages.bench_input import __main__ as bench_input
from stages.bench_input import names
from tests.made_up import one


def measurements(kind: DeviceKind) -> list[Measurement]:
    made = []
    for feed, speed in (
        (names.BOOK, 1),
        (names.PERSISTENT, 2),
        (names.NO_WORKERS, 3),
        (names.RESIDENT, 200),
    ):
        made += [
            one(names.FIRST_BATCH, feed, 80, kind, 256),
            one(names.IMAGES, feed, 20_000 * speed, kind, 256, "images/s"),
            one(names.EPOCH, feed, 3 / speed, kind, 256, "s"),
        ]
    for net in names.NETS:
        for feed in (names.BOOK, names.RESIDENT):
            made += [
                one(names.step(feed), names.part_of(net, part), 2.0 + i, kind, 256)
                for i, part in enumerate(names.PARTS)
            ]
        made.append(one(names.EVALUATION, net, 3, kind, 256))
    return made


def summary(made: list[Measurement]) -> dict[str, float | str]:
    """Return the stage's own metrics of what it measured, its conditions apart."""
    return bench_input.summarise(made)
