"""Made-up results of bench_parallel: the committed ones, plus those that need two GPUs."""

from lab.machine.devices import DeviceKind
from lab.results.measurements import Measurement
from lab.timing.bench import OVER_LAUNCH
from tests.made_up import committed, one

SIZE = 400
WAITS = {"wait without an argument": 25, "wait for the current GPU": 25, "wait for both GPUs": 50}


def measurements(kind: DeviceKind) -> list[Measurement]:
    made = committed("bench_parallel", kind)
    if kind != "cuda":
        return made
    return [
        *(m for m in made if m.values),
        one(OVER_LAUNCH, "product of the largest matrices", 100, kind, SIZE, "times as long"),
        *(one("products, second job longer", wait, t, kind, SIZE) for wait, t in WAITS.items()),
    ]
