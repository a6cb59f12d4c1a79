"""Made-up results of bench_async, as a CPU or a GPU would leave them."""

from lab.machine.devices import DeviceKind
from lab.results.measurements import Measurement, skip
from lab.timing.bench import OVER_LAUNCH
from stages.bench_async import __main__ as bench_async
from stages.bench_async.measure import names
from tests.made_up import one


def measurements(kind: DeviceKind) -> list[Measurement]:
    returns = 0.01 if kind == "cuda" else 1.0
    made = [one(names.FIRST_PRODUCT, names.NO_WARM_UP, 500, kind, 64, "us")]
    for n, t in ((64, 10.0), (1024, 1000.0)):
        made += [
            one(names.PRODUCT, names.CALL_RETURNS, returns * t, kind, n, "us"),
            one(names.PRODUCT, names.RESULT_THERE, t, kind, n, "us"),
        ]
    for count in (1, 10, 100):
        made += [
            one(names.RUN_AHEAD, names.WAITING_ONCE, 5 + 2 * count, kind, count, "us"),
            one(names.RUN_AHEAD, names.WAITING_EACH, 5 + 3 * count, kind, count, "us"),
            one(names.RUN_AHEAD, names.CALLS_RETURN, returns * 2 * count, kind, count, "us"),
            one(names.RUN_AHEAD, names.SERIES_DONE, 2 * count, kind, count, "us"),
        ]
    for blocker, t in ((names.NOTHING, 2), (names.ITEM, 5), (names.PRINT, 100)):
        made.append(one(names.BLOCKER, blocker, t, kind, 0, "us"))
    if kind == "cuda":
        for variant, x in ((names.LARGEST_PRODUCT, 1024), (names.ADDITION, 8192)):
            made.append(one(OVER_LAUNCH, variant, 100, kind, x, "times as long"))
        for variant, z in ((names.IN_ORDER, 3.0), (names.UNORDERED, 2.0)):
            made.append(Measurement(names.DEPENDENCIES, variant, 0, (z,) * 12, "", kind))
    return [
        *made,
        one(names.BOOK, names.BOOK_NUMPY, 40, kind, 500),
        one(names.BOOK, names.NOT_WAITED_FOR, 20 * returns, kind, 500),
        one(names.BOOK, names.WAITED_FOR, 20, kind, 500),
        one(names.BOOK, names.FAIR_NUMPY, 15, kind, 500),
        one(names.BOOK, names.FAIR_TORCH, 10, kind, 500),
        one(names.BACK_END, names.ONES, 60, kind, unit="%"),
        one(names.BACK_END, names.RANDOM_PRODUCT, 99, kind, unit="%"),
        skip(names.BOOK, names.WRONG_GPU, "needs 2 CUDA GPUs, found 0", kind),
    ]


def summary(made: list[Measurement]) -> dict[str, float | str]:
    """The stage's own metrics of what it measured, its conditions apart."""
    return bench_async.summarise(made)
