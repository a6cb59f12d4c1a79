"""Made-up results of bench_async on a CPU or a GPU."""

from lab.machine.devices import DeviceKind
from lab.results.measurements import Measurement, skip
from lab.results.reasons import NEEDS_GPUS, Reason
from lab.timing.bench import OVER_LAUNCH
from tests.made_up import one


def measurements(kind: DeviceKind) -> list[Measurement]:
    returns = 0.01 if kind == "cuda" else 1.0
    made = [one("first_product", "no warm-up", 500, kind, 64, "us")]
    for n, t in ((64, 10.0), (1024, 1000.0)):
        made += [
            one("product", "call returns", returns * t, kind, n, "us"),
            one("product", "result there", t, kind, n, "us"),
        ]
    for count in (1, 10, 100):
        made += [
            one("run_ahead", "waiting once", 5 + 2 * count, kind, count, "us"),
            one("run_ahead", "waiting after each", 5 + 3 * count, kind, count, "us"),
            one("run_ahead", "calls return", returns * 2 * count, kind, count, "us"),
            one("run_ahead", "all done", 2 * count, kind, count, "us"),
        ]
    for blocker, t in (("nothing", 2), (".item()", 5), ("nonzero", 20), ("print", 100)):
        made.append(one("blocker", blocker, t, kind, 0, "us"))
    if kind == "cuda":
        for variant, x in (
            ("product of the largest matrices", 1024),
            ("operation of the series", 8192),
        ):
            made.append(one(OVER_LAUNCH, variant, 100, kind, x, "times as long"))
        for variant, z in (("one stream", 3.0), ("another stream, no event", 2.0)):
            made.append(Measurement("dependencies", variant, 0, (z,) * 12, "", kind))
    return [
        *made,
        one("book", "numpy, float64", 40, kind, 500),
        one("book", "torch, not waited for", 20 * returns, kind, 500),
        one("book", "torch, waited for", 20, kind, 500),
        one("book", "numpy, products alone", 15, kind, 500),
        one("book", "torch, products alone", 10, kind, 500),
        one("back_end", "x * y + 2", 60, kind, unit="%"),
        one("back_end", "random product", 99, kind, unit="%"),
        skip("book", "torch, another GPU waited for", Reason(NEEDS_GPUS, "2"), kind),
    ]
