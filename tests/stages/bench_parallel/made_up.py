"""Made-up results of bench_parallel, as a CPU or a GPU would leave them."""

from lab.machine.devices import DeviceKind
from lab.results.measurements import Measurement, skip
from lab.timing.bench import OVER_LAUNCH
from stages.bench_parallel import __main__ as bench_parallel
from stages.bench_parallel.measure import names
from tests.made_up import one

SIZE = 400

WARM_UP = {names.FIRST_RUN: 100, names.SECOND_RUN: 50.5, names.LATER_RUN: 50}
DEPENDENCIES = {names.ONE_DEVICE: 50, names.DEPENDENT: 55, names.INDEPENDENT: 30}
WAITS = {names.NO_ARGUMENT: 25, names.CURRENT_WAITED_FOR: 25, names.BOTH_WAITED_FOR: 50}


def measurements(kind: DeviceKind) -> list[Measurement]:
    made = [
        Measurement(names.NOTES_RUN, names.PRODUCTS_OF_A_RUN, 0, (50,), "products", kind),
        *[one(names.WARM_UP, variant, t, kind, SIZE) for variant, t in WARM_UP.items()],
        *[one(names.DEPENDENCIES, variant, t, kind, SIZE) for variant, t in DEPENDENCIES.items()],
    ]
    for size, t in ((64, 1.0), (SIZE, 50.0)):
        made += [
            one(names.PRODUCTS, names.FIRST, t, kind, size),
            one(names.PRODUCTS, names.SECOND, t, kind, size),
            one(names.PRODUCTS, names.ONE_AFTER_THE_OTHER, 2.25 * t, kind, size),
            one(names.PRODUCTS, names.TOGETHER, 1.25 * t, kind, size),
        ]
    if kind != "cuda":
        reason = "needs 2 CUDA GPUs, found 0"
        return [*made, *[skip(names.LONGER_SECOND, variant, reason, kind) for variant in WAITS]]
    return [
        *made,
        one(OVER_LAUNCH, names.ONE_PRODUCT, 100, kind, SIZE, "times as long"),
        *[one(names.LONGER_SECOND, variant, t, kind, SIZE) for variant, t in WAITS.items()],
    ]


def summary(made: list[Measurement]) -> dict[str, float | str]:
    """The stage's own metrics of what it measured, its conditions apart."""
    return bench_parallel.summarise(made)
