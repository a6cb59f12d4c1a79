"""Made-up results of bench_overlap on a CPU or a GPU."""

from lab.core.files import Metrics
from lab.machine.devices import DeviceKind
from lab.results.measurements import Measurement, Results, skip
from lab.results.reasons import NEEDS_GPU, Reason
from lab.timing.bench import OVER_LAUNCH
from stages.bench_overlap.findings import best_variant
from stages.bench_overlap.measure.names import CONCURRENT, PARTS, TWO_STREAMS
from stages.bench_overlap.measure.overlap import overlap_fractions
from tests.made_up import one


def measurements(kind: DeviceKind) -> list[Measurement]:
    alone = {"computing only": 40, "copying only": 40}
    if kind == "cuda":
        alone |= {
            "copying only, pageable memory": 200,
            "copying only, non_blocking": 60,
            "uploading only": 40,
        }
        both = {
            "pageable memory, one stream": 240,
            "the notes' non_blocking, one stream": 100,
            "pinned memory, one stream": 80,
            TWO_STREAMS: 44,
            "pinned memory, both directions": 50,
        }
        best = TWO_STREAMS
        missing = [
            one(OVER_LAUNCH, variant, 100, kind, x, "times as long")
            for variant, x in (("product", 4000), ("LeNet's forward and backward pass", 4096))
        ]
    else:
        both = {"sequentially": 80, CONCURRENT: 44}
        best = CONCURRENT
        missing = [skip("times", n, Reason(NEEDS_GPU), kind) for n in PARTS if n not in both]
    times = [one("times", name, t, kind, 4000) for name, t in (alone | both).items()]
    rates = [
        one("bandwidth", name, 10, kind, 4000, "GB/s") for name in alone if name != "computing only"
    ]
    spans = [
        Measurement("timeline", best, 2.0 * i, (1.5,), "ms", kind, columns={"activity": what})
        for i, what in enumerate(2 * ("compute", "copy"))
    ]
    ready = {"W1": 40, "b1": 40, "W2": 30, "b2": 30, "W3": 8, "b3": 8, "W4": 5, "b4": 4}
    others = [
        *[one("gradient ready", name, t, kind, i) for i, (name, t) in enumerate(ready.items(), 1)],
        one("backward pass", "first gradient ready", 4, kind, 256),
        one("backward pass", "last gradient ready", 40, kind, 256),
    ]
    experiment = "the book's non_blocking call, nothing else at work"
    call = {"call returns": 6, "copies are there": 60}
    others += [
        one(experiment, variant, t, kind, 4000)
        if kind == "cuda"
        else skip(experiment, variant, Reason(NEEDS_GPU), kind)
        for variant, t in call.items()
    ]
    return [*times, *rates, *overlap_fractions(times), *spans, *missing, *others]


def conditions(made: list[Measurement]) -> Metrics:
    on_gpu = best_variant(Results(made)) == TWO_STREAMS
    return {"workload": "the notes'" if on_gpu else "balanced", "num_results": 16}
