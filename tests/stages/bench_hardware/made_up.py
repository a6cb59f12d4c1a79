"""Made-up results of bench_hardware on a CPU or a GPU."""

from dataclasses import replace

from lab.machine.devices import DeviceKind
from lab.results.measurements import Measurement, skip
from lab.results.reasons import NEEDS_GPU, Reason
from stages.bench_hardware.measure.arithmetic import WAYS
from stages.bench_hardware.measure.roofline import NETS
from stages.bench_hardware.measure.transfers import VARIANTS
from tests.made_up import one


def measurements(kind: DeviceKind) -> list[Measurement]:
    made = [
        one("latency", "dependent loads", t, "cpu", 1024 * kib, "ns")
        for kib, t in ((4, 1), (32, 4), (256, 15), (4096, 100), (16384, 150))
    ]
    made += [
        one("latency", "loads in order", 3, "cpu", 1024 * 16384, "ns"),
        one("reuse", "8 times all blocks", 30, "cpu", 2**26),
        one("reuse", "each block 8 times", 10, "cpu", 2**26),
        one("order", "row by row, stored by columns", 20, "cpu"),
        one("order", "column by column, stored by columns", 2, "cpu"),
        *[one("stride", "sum", 0.2 * s, "cpu", 4 * s, "ns") for s in (1, 4, 16, 64)],
        *[one("matmul", way, 10.0**i, "cpu", 256, "GFLOP/s") for i, way in enumerate(WAYS)],
        one("adding", "Python loop", 400, "cpu", 0, "us"),
        one("adding", "one call", 4, "cpu", 0, "us"),
    ]
    for threads, gflop_per_s, gb_per_s, sums in ((1, 100, 20, 2), (16, 1000, 1000, 12)):
        rates = [
            one("peak", "float32", gflop_per_s / 2, "cpu", threads, "GFLOP/s"),
            one("peak", "float32 convolution", gflop_per_s, "cpu", threads, "GFLOP/s"),
            one("peak", "bfloat16", gflop_per_s / 100, "cpu", threads, "GFLOP/s"),
            one("bandwidth", "copy", gb_per_s, "cpu", threads, "GB/s"),
            one("vector rate", "one call", sums, "cpu", threads, "billion sums/s"),
        ]
        made += [replace(rate, threads=threads) for rate in rates]
    target: DeviceKind = "cpu"
    if kind == "cuda":
        target = kind
        made += [
            one("peak", "float32", 50_000, kind, 0, "GFLOP/s"),
            one("peak", "float32 convolution", 40_000, kind, 0, "GFLOP/s"),
            one("peak", "bfloat16", 400_000, kind, 0, "GFLOP/s"),
            one("bandwidth", "copy", 3000, kind, 0, "GB/s"),
            *[
                one("transfers", variant, us, kind, 1, "us")
                for variant, us in zip(VARIANTS, (5, 4000, 1000), strict=True)
            ],
        ]
    else:
        made += [skip("transfers", variant, Reason(NEEDS_GPU), kind) for variant in VARIANTS]
    for stem, ms, gflop in (("the notes' small stem", 300, 58), ("the original stem", 30, 4)):
        made += [
            one("stem", stem, ms, target, 64),
            Measurement("counted GFLOP", stem, 1000, (gflop,), "GFLOP", target),
        ]
    for i, net in enumerate(NETS):
        made += [
            one("network", net, 50, target, 3.0**i, "GFLOP/s"),
            Measurement("counted GFLOP", net, 1000, (3.0 * 3.0**i,), "GFLOP", target),
        ]
    return made
