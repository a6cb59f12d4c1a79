"""Made-up results of bench_overlap, as a CPU or a GPU would leave them."""

from lab.machine.devices import DeviceKind
from lab.results.measurements import Measurement, skip
from lab.timing.bench import OVER_LAUNCH
from stages.bench_overlap import __main__ as bench_overlap
from stages.bench_overlap.measure import names
from stages.bench_overlap.measure.fractions import overlap_fractions
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
        best = names.TWO_STREAMS
        missing = [
            one(OVER_LAUNCH, variant, 100, kind, x, "times as long")
            for variant, x in ((names.ONE_PRODUCT, 4000), (names.ONE_PASS, 4096))
        ]
    else:
        both = {names.IN_TURN: 80, names.BESIDE: 44}
        best = names.BESIDE
        missing = [skip(names.TIMES, n, "needs a CUDA GPU", kind) for n in names.ONLY_CUDA]
    times = [one(names.TIMES, name, t, kind, 4000) for name, t in (alone | both).items()]
    rates = [
        one(names.BANDWIDTH, name, 10, kind, 4000, "GB/s")
        for name in alone
        if name != names.COMPUTE
    ]
    spans = [
        Measurement(f"{names.TIMELINE}{best}", f"{i} {what}", 2.0 * i, (1.5,), "ms", kind)
        for i, what in enumerate(2 * (names.COMPUTING, names.COPYING))
    ]
    ready = {"W1": 40, "b1": 40, "W2": 30, "b2": 30, "W3": 8, "b3": 8, "W4": 5, "b4": 4}
    others = [
        *[one(names.GRADIENTS, name, t, kind, i) for i, (name, t) in enumerate(ready.items(), 1)],
        one(names.BACKWARD, names.FIRST_READY, 4, kind, 256),
        one(names.BACKWARD, names.LAST_READY, 40, kind, 256),
    ]
    call = {names.RETURNS: 6, names.ARRIVES: 60}
    others += [
        one(names.CALL, variant, t, kind, 4000)
        if kind == "cuda"
        else skip(names.CALL, variant, "needs a CUDA GPU", kind)
        for variant, t in call.items()
    ]
    return [*times, *rates, *overlap_fractions(times), *spans, *missing, *others]


def summary(made: list[Measurement]) -> dict[str, float | str]:
    """The stage's own metrics of what it measured, its conditions apart."""
    derived = bench_overlap.summarise(made)
    on_gpu = derived[names.BEST_VARIANT] == names.TWO_STREAMS
    return {names.WORKLOAD: names.NOTES if on_gpu else names.BALANCED, **derived}
