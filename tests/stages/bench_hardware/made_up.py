"""Made-up results of bench_hardware, as a CPU or a GPU would leave them."""

from lab.machine.devices import DeviceKind
from lab.results.measurements import Measurement, skip
from stages.bench_hardware import __main__ as bench_hardware
from stages.bench_hardware.matmul import WAYS
from tests.made_up import one


def measurements(kind: DeviceKind) -> list[Measurement]:
    made = [
        one("latency", "dependent loads", t, "cpu", 4096 * 8**i, "ns")
        for i, t in enumerate((1, 4, 15, 100, 150))
    ]
    made += [one("order", "row by row", 2, "cpu"), one("order", "column by column", 16, "cpu")]
    made += [one("stride", "sum", 0.2 * s, "cpu", 4 * s, "ns") for s in (1, 4, 16, 64)]
    made += [one("matmul", way, 10.0**i, "cpu", 256, "GFLOP/s") for i, way in enumerate(WAYS)]
    made += [
        one("adding", "Python loop", 400, "cpu", 0, "us"),
        one("adding", "one call", 4, "cpu", 0, "us"),
    ]
    made += [
        one("peak", "float32", 100, "cpu", 1, "GFLOP/s"),
        one("bandwidth", "copy", 20, "cpu", 1, "GB/s"),
    ]
    target = "cpu"
    if kind == "cuda":
        target = kind
        made += [
            one("peak", "float32", 50_000, kind, 0, "GFLOP/s"),
            one("bandwidth", "copy", 3000, kind, 0, "GB/s"),
        ]
        made += [
            one("trip", "launch", 5, kind, 1, "us"),
            one("trip", "to the GPU and back", 20, kind, 1, "us"),
        ]
    else:
        made += [
            skip("trip", arm, "needs a CUDA GPU", kind) for arm in ("launch", "to the GPU and back")
        ]
    for i, name in enumerate(bench_hardware.NETS):
        made.append(one("network", name, 50, target, 3.0**i, "GFLOP/s"))
        made.append(Measurement("counted", name, 1000, (3.0 * 3.0**i, 3.0), "GFLOP, GB", target))
    return made


def summary(made: list[Measurement]) -> dict[str, float | str]:
    """Return the stage's own metrics of what it measured, its conditions apart."""
    return bench_hardware.summarise(made)
