"""Made-up results of bench_hardware, as a CPU or a GPU would leave them."""

from dataclasses import replace

from lab.machine.devices import DeviceKind
from lab.results.measurements import Measurement, skip
from stages.bench_hardware import __main__ as bench_hardware
from stages.bench_hardware.measure import names, trips
from stages.bench_hardware.measure.matmul import PRODUCTS
from stages.bench_hardware.measure.roofline import NETS
from tests.made_up import one


def measurements(kind: DeviceKind) -> list[Measurement]:
    made = [
        one(names.LATENCY, names.DEPENDENT_LOADS, t, "cpu", 4096 * 8**i, "ns")
        for i, t in enumerate((1, 4, 15, 100, 150))
    ]
    made += [
        one(names.LATENCY, names.LOADS_IN_ORDER, 3, "cpu", 4096 * 8**4, "ns"),
        one(names.REUSE, names.BY_PASSES, 30, "cpu", 2**26),
        one(names.REUSE, names.BY_BLOCKS, 10, "cpu", 2**26),
        one(names.ORDER, names.BY_ROWS_STORED_BY_COLUMNS, 20, "cpu"),
        one(names.ORDER, names.BY_COLUMNS_STORED_BY_COLUMNS, 2, "cpu"),
        *[one(names.STRIDE, names.SUM, 0.2 * s, "cpu", 4 * s, "ns") for s in (1, 4, 16, 64)],
        *[
            one(names.MATMUL, product, 10.0**i, "cpu", 256, "GFLOP/s")
            for i, product in enumerate(PRODUCTS)
        ],
        one(names.ADDING, names.LOOP, 400, "cpu", 0, "us"),
        one(names.ADDING, names.ONE_CALL, 4, "cpu", 0, "us"),
    ]
    for threads, gflop_per_s, gb_per_s, sums in ((1, 100, 20, 2), (16, 1000, 1000, 12)):
        rates = [
            one(names.PEAK, names.FLOAT32, gflop_per_s, "cpu", threads, "GFLOP/s"),
            one(names.BANDWIDTH, names.COPY, gb_per_s, "cpu", threads, "GB/s"),
            one(names.VECTOR_RATE, names.ONE_CALL, sums, "cpu", threads, "billion sums/s"),
        ]
        made += [replace(rate, threads=threads) for rate in rates]
    target: DeviceKind = "cpu"
    if kind == "cuda":
        target = kind
        made += [
            one(names.PEAK, names.FLOAT32, 50_000, kind, 0, "GFLOP/s"),
            one(names.BANDWIDTH, names.COPY, 3000, kind, 0, "GB/s"),
            *[
                one(names.TRIP, variant, us, kind, 1, "us")
                for variant, us in zip(trips.VARIANTS, (5, 4000, 1000), strict=True)
            ],
        ]
    else:
        made += [skip(names.TRIP, variant, "needs a CUDA GPU", kind) for variant in trips.VARIANTS]
    for stem, ms, gflop in ((names.SMALL_STEM, 300, 58), (names.ORIGINAL_STEM, 30, 4)):
        made += [
            one(names.STEM, stem, ms, target, 64),
            Measurement(names.COUNTED_GFLOP, stem, 1000, (gflop,), "GFLOP", target),
        ]
    for i, net in enumerate(NETS):
        made += [
            one(names.NETWORK, net, 50, target, 3.0**i, "GFLOP/s"),
            Measurement(names.COUNTED_GFLOP, net, 1000, (3.0 * 3.0**i,), "GFLOP", target),
        ]
    return made


def summary(made: list[Measurement]) -> dict[str, float | str]:
    """Return the stage's own metrics of what it measured, its conditions apart."""
    return bench_hardware.summarise(made)
