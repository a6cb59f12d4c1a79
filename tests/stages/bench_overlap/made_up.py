"""Made-up results of bench_overlap, as a CPU or a GPU would leave them."""

from lab.machine.devices import DeviceKind
from lab.results.measurements import Measurement, skip
from stages.bench_overlap import __main__ as bench_overlap
from stages.bench_overlap import overlap
from tests.made_up import one


def measurements(kind: DeviceKind) -> list[Measurement]:
    times = {overlap.COMPUTE: 40.0, overlap.COPIES: 40.0}
    ways = {overlap.IN_TURN: 80.0, overlap.BESIDE: 44.0}
    if kind == "cuda":
        times |= {overlap.PAGEABLE_COPIES: 200.0, overlap.BOOK_COPIES: 60.0, overlap.UPLOADS: 40.0}
        ways = {
            overlap.PAGEABLE: 240.0,
            overlap.BOOK: 100.0,
            overlap.ONE_STREAM: 80.0,
            overlap.TWO_STREAMS: 44.0,
            overlap.BOTH_WAYS: 50.0,
        }
    made = [one("seconds", name, t, kind, 1000) for name, t in (times | ways).items()]
    made += [
        one("bandwidth", name, 10, kind, 1000, "GB/s") for name in times if name != overlap.COMPUTE
    ]
    best = overlap.TWO_STREAMS if kind == "cuda" else overlap.BESIDE
    spans = [
        Measurement(f"timeline, {best}", f"{i} {what}", 2.0 * i, (1.5,), "ms", kind)
        for i, what in enumerate(("compute", "copy", "compute", "copy"))
    ]
    missing = (
        [skip("seconds", n, "needs a CUDA GPU", kind) for n in overlap.ONLY_CUDA]
        if kind != "cuda"
        else []
    )
    return [*made, *bench_overlap.fractions(made), *spans, *missing]


def summary(made: list[Measurement]) -> dict[str, float | str]:
    """Return the stage's own metrics of what it measured, its conditions apart."""
    return bench_overlap.summarise(made)
