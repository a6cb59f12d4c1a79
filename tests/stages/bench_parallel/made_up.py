"""Made-up results of bench_parallel, as a CPU or a GPU would leave them."""

from lab.machine.devices import DeviceKind
from lab.results.measurements import Measurement, skip
from lab.results.reasons import NEEDS_GPUS, Reason
from lab.timing.bench import OVER_LAUNCH
from tests.made_up import one

SIZE = 400

WARM_UP = {"first run": 100, "second run": 50.5, "later runs": 50}
DEPENDENCIES = {
    "one chain, one device": 50,
    "one chain, two devices": 55,
    "two chains, two devices": 30,
}
WAITS = {"wait without an argument": 25, "wait for the current GPU": 25, "wait for both GPUs": 50}


def measurements(kind: DeviceKind) -> list[Measurement]:
    made = [
        Measurement("the notes' run", "products of a run", 0, (50,), "products", kind),
        *[one("warm-up", variant, t, kind, SIZE) for variant, t in WARM_UP.items()],
        *[one("dependencies", variant, t, kind, SIZE) for variant, t in DEPENDENCIES.items()],
    ]
    for size, t in ((64, 1.0), (SIZE, 50.0)):
        made += [
            one("products", "first device only", t, kind, size),
            one("products", "second device only", t, kind, size),
            one("products", "sequentially", 2.25 * t, kind, size),
            one("products", "concurrently", 1.25 * t, kind, size),
        ]
    if kind != "cuda":
        reason = Reason(NEEDS_GPUS, "2")
        return [
            *made,
            *[skip("products, second job longer", variant, reason, kind) for variant in WAITS],
        ]
    return [
        *made,
        one(OVER_LAUNCH, "product of the largest matrices", 100, kind, SIZE, "times as long"),
        *[
            one("products, second job longer", variant, t, kind, SIZE)
            for variant, t in WAITS.items()
        ],
    ]
