"""Made-up results of bench_hardware, as a CPU or a GPU would leave them."""

from dataclasses import replace

from lab.machine.devices import DeviceKind
from lab.results.measurements import Measurement, skip
from stages.bench_hardware import __main__ as bench_hardware
from stages.bench_hardware import names
from stages.bench_hardware.matmul import PRODUCTS
from stages.bench_hardware.roofline import NETS
from tests.made_up import one


def measurements(kind: DeviceKind) -> list[Measurement]:
    made = [
        one(names.LATENCY, names.DEPENDENT_LOADS, t, "cpu", 4096 * 8**i, "ns")
        for i, t in enumerate((1, 4, 15, 100, 150))
    ]
    made += [
        one(names.ORDER, names.BY_ROWS, 2, "cpu"),
        one(names.ORDER, names.BY_COLUMNS, 16, "cpu"),
        *[one(names.STRIDE, names.SUM, 0.2 * s, "cpu", 4 * s, "ns") for s in (1, 4, 16, 64)],
        *[
            one(names.MATMUL, product, 10.0**i, "cpu", 256, "GFLOP/s")
            for i, product in enumerate(PRODUCTS)
        ],
        one(names.ADDING, names.LOOP, 400, "cpu", 0, "us"),
        one(names.ADDING, names.ONE_CALL, 4, "cpu", 0, "us"),
    ]
    for threads, gflop_per_s, gb_per_s in ((1, 100, 20), (16, 1000, 1000)):
        peak = one(names.PEAK, names.FLOAT32, gflop_per_s, "cpu", threads, "GFLOP/s")
        copy = one(names.BANDWIDTH, names.COPY, gb_per_s, "cpu", threads, "GB/s")
        made += [replace(peak, threads=threads), replace(copy, threads=threads)]
    target: DeviceKind = "cpu"
    if kind == "cuda":
        target = kind
        made += [
            one(names.PEAK, names.FLOAT32, 50_000, kind, 0, "GFLOP/s"),
            one(names.BANDWIDTH, names.COPY, 3000, kind, 0, "GB/s"),
            one(names.TRIP, names.LAUNCH, 5, kind, 1, "us"),
            one(names.TRIP, names.THERE_AND_BACK, 20, kind, 1, "us"),
        ]
    else:
        trips = (names.LAUNCH, names.THERE_AND_BACK)
        made += [skip(names.TRIP, arm, "needs a CUDA GPU", kind) for arm in trips]
    for i, net in enumerate(NETS):
        counted = (3.0 * 3.0**i, 3.0)
        made += [
            one(names.NETWORK, net, 50, target, 3.0**i, "GFLOP/s"),
            Measurement(names.COUNTED, net, 1000, counted, "GFLOP, GB", target),
        ]
    return made


def summary(made: list[Measurement]) -> dict[str, float | str]:
    """Return the stage's own metrics of what it measured, its conditions apart."""
    return bench_hardware.summarise(made)
