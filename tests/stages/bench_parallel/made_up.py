"""Made-up results of bench_parallel, as a CPU or a GPU would leave them."""

from lab.machine.devices import DeviceKind
from lab.results.measurements import Measurement
from stages.bench_parallel import __main__ as bench_parallel
from tests.made_up import one


def measurements(kind: DeviceKind) -> list[Measurement]:
    made = []
    for size, t in ((64, 1.0), (400, 50.0)):
        arms = (
            (bench_parallel.FIRST, t),
            (bench_parallel.SECOND, t),
            (bench_parallel.AFTER, 2 * t),
            (bench_parallel.TOGETHER, 1.25 * t),
        )
        made += [one("products", arm, seconds, kind, size) for arm, seconds in arms]
    return made


def summary(made: list[Measurement]) -> dict[str, float | str]:
    """Return the stage's own metrics of what it measured, its conditions apart."""
    return bench_parallel.summarise(made, 50)
