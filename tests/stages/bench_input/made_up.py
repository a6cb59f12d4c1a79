"""Made-up results of bench_input, as a CPU or a GPU would leave them."""

from lab.data import loaders
from lab.machine.devices import DeviceKind
from lab.results.measurements import Measurement
from stages.bench_input import __main__ as bench_input
from stages.bench_input import step_parts
from tests.made_up import one


def measurements(kind: DeviceKind) -> list[Measurement]:
    made = []
    for i, name in enumerate(
        (loaders.BOOK, loaders.PERSISTENT, loaders.NO_WORKERS, loaders.RESIDENT)
    ):
        speed = 200 if name == loaders.RESIDENT else 1 + i
        made += [
            one("first_batch", name, 80, kind),
            one("images", name, 20_000 * speed, kind, 256, "images/s"),
        ]
        made.append(one("epoch", name, 3 / speed, kind, 256, "s"))
    for net in bench_input.NETS.values():
        for way in (loaders.BOOK, loaders.RESIDENT):
            made += [
                one(f"step, {way}", f"{net}: {part}", 2.0 + i, kind, 256)
                for i, part in enumerate(step_parts.PARTS)
            ]
        made.append(one("evaluation", net, 3, kind, 256))
    return made


def summary(made: list[Measurement]) -> dict[str, float | str]:
    """Return the stage's own metrics of what it measured, its conditions apart."""
    return bench_input.summarise(made)
