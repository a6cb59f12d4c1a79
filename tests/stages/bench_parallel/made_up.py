"""Made-up results of bench_parallel, as a CPU or a GPU would leave them."""

from lab.machine.devices import DeviceKind
from lab.results.measurements import Measurement, skip
from stages.bench_parallel import __main__ as bench_parallel
from stages.bench_parallel import names
from tests.made_up import one


def measurements(kind: DeviceKind) -> list[Measurement]:
    made = []
    for size, t in ((64, 1.0), (400, 50.0)):
        made += [
            one(names.PRODUCTS, names.FIRST, t, kind, size),
            one(names.PRODUCTS, names.SECOND, t, kind, size),
            one(names.PRODUCTS, names.ONE_AFTER_THE_OTHER, 2 * t, kind, size),
            one(names.PRODUCTS, names.TOGETHER, 1.25 * t, kind, size),
        ]
    if kind != "cuda":
        reason = "needs 2 CUDA GPUs, found 0"
        return [*made, skip(names.LONGER_SECOND, names.CURRENT_WAITED_FOR, reason, kind)]
    return [
        *made,
        one(names.LONGER_SECOND, names.CURRENT_WAITED_FOR, 25, kind, 400),
        one(names.LONGER_SECOND, names.BOTH_WAITED_FOR, 50, kind, 400),
    ]


def summary(made: list[Measurement]) -> dict[str, float | str]:
    """The stage's own metrics of what it measured, its conditions apart."""
    return bench_parallel.summarise(made)
