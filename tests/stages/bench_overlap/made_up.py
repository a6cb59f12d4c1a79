"""Made-up results of bench_overlap, as a CPU or a GPU would leave them."""

from lab.machine.devices import DeviceKind
from lab.results.measurements import Measurement, skip
from stages.bench_overlap import __main__ as bench_overlap
from stages.bench_overlap import names
from stages.bench_overlap.fractions import overlap_fractions
from tests.made_up import one


def measurements(kind: DeviceKind) -> list[Measurement]:
    alone = {names.COMPUTE: 40, names.COPIES: 40}
    if kind == "cuda":
        alone |= {names.PAGEABLE_COPIES: 200, names.BOOK_COPIES: 60, names.UPLOADS: 40}
        both = {
            names.PAGEABLE: 240,
            names.BOOK: 100,
            names.ONE_STREAM: 80,
            names.TWO_STREAMS: 44,
            names.BOTH_DIRECTIONS: 50,
        }
        best, missing = names.TWO_STREAMS, []
    else:
        both = {names.IN_TURN: 80, names.BESIDE: 44}
        best = names.BESIDE
        missing = [skip(names.TIMES, n, "needs a CUDA GPU", kind) for n in names.ONLY_CUDA]
    times = [one(names.TIMES, name, t, kind, 1000) for name, t in (alone | both).items()]
    rates = [
        one(names.BANDWIDTH, name, 10, kind, 1000, "GB/s")
        for name in alone
        if name != names.COMPUTE
    ]
    spans = [
        Measurement(f"{names.TIMELINE}{best}", f"{i} {what}", 2.0 * i, (1.5,), "ms", kind)
        for i, what in enumerate(2 * (names.COMPUTING, names.COPYING))
    ]
    return [*times, *rates, *overlap_fractions(times), *spans, *missing]


def summary(made: list[Measurement]) -> dict[str, float | str]:
    """The stage's own metrics of what it measured, its conditions apart."""
    return bench_overlap.summarise(made)
