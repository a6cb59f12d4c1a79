"""The numbers derived from bench_training's rows; sample i comes from repetition i."""

from dataclasses import dataclass

from lab.results.findings import Finding, Samples, combine, exact, median, missing, ratio
from lab.results.measurements import Measurement, Results
from lab.results.reasons import NOT_MEASURED, Reason
from stages.bench_training.measure import names

METRICS = (
    "lenet_fp32_speedup",
    "lenet_fp32_of_peak",
    "lenet_fp32_of_limit",
    "resnet18_fp32_speedup",
    "resnet18_fp32_of_limit",
)
ON_DEVICES = {  # the speed of two devices relative to one, by what they train and how
    "notes_lenet_loop": (names.NOTES_LENET, names.LOOP),
    "notes_lenet_threads": (names.NOTES_LENET, names.THREADS),
    "wider_loop": (names.WIDE, names.LOOP),
    "wider_threads": (names.WIDE, names.THREADS),
}


def findings(results: Results) -> dict[str, Finding]:
    def speedup(experiment: str, variant: str, over: str) -> Finding:
        return ratio(results.samples(experiment, over), results.samples(experiment, variant))

    def of_peak(net: str, variant: str, precision: str) -> Finding:
        """Return a variant's FLOP/s relative to the peak in its precision."""
        at_peak = limit_of(results, net, precision).at_peak
        return ratio(at_peak, results.samples(net, variant), "of the peak", better="more")

    def of_limit(net: str, variant: str, precision: str) -> Finding:
        limit = limit_of(results, net, precision).with_bytes
        return ratio(limit, results.samples(net, variant), "of the limit", better="more")

    def seconds(net: str, variant: str) -> Finding:
        return median(results.samples(net, variant) * 1e-3, "s", better="less")

    found: dict[str, Finding] = {}
    for net in names.NETS:
        notes, bf16 = notes_variant(results, net), fastest_bf16(results, net)
        fp32 = names.FP32 if names.FP32 in results.variants(net) else names.ENGINE
        found |= {
            # relative to the notes' loop, both in torch's default precision
            f"{net}_fp32_speedup": speedup(net, names.ENGINE, over=notes),
            f"{net}_graph_speedup": speedup(net, names.GRAPH, over=notes),
            f"{net}_bf16_speedup": speedup(net, bf16, over=notes),
            f"{net}_bf16_over_fp32": speedup(net, names.BF16, over=fp32),
            f"{net}_fp32_of_peak": of_peak(net, fp32, "fp32"),
            f"{net}_tf32_of_peak": of_peak(net, names.TF32, "tf32"),
            f"{net}_bf16_of_peak": of_peak(net, bf16, "bf16"),
            f"{net}_fp32_of_limit": of_limit(net, fp32, "fp32"),
            f"{net}_tf32_of_limit": of_limit(net, names.TF32, "tf32"),
            f"{net}_bf16_of_limit": of_limit(net, bf16, "bf16"),
            f"{net}_filled": filled(results, net),
            f"{net}_notes_s": seconds(net, notes),
            f"{net}_ours_s": seconds(net, names.ENGINE),
        }
    return {
        **found,
        "over_plain": speedup(names.LENET, names.ENGINE, over=names.PLAIN),
        "lightning": speedup(
            names.LENET, names.LIGHTNING, over=notes_variant(results, names.LENET)
        ),
        **{
            name: speedup(experiment, variant, over=names.ONE_DEVICE)
            for name, (experiment, variant) in ON_DEVICES.items()
        },
    }


def notes_variant(results: Results, net: str) -> str:
    """Return the baseline: the notes' loop with the workers that the trial found faster."""
    ways = [name for name in names.BY_THE_NOTES.values() if name in results.variants(net)]
    if len(ways) == 1:
        return ways[0]
    return names.BY_THE_NOTES[results.conditions.get(names.NOTES_WORKERS, 0)]


def fastest_bf16(results: Results, net: str) -> str:
    """Return the measured bfloat16 variant with the shortest steps."""
    measured = [name for name in (names.BF16, names.COMPILED_BF16) if name in results.variants(net)]
    return min(
        measured, key=lambda name: median(results.samples(net, name)).value, default=names.BF16
    )


@dataclass(frozen=True)
class Limit:
    """Lower bounds on the time of a step, in ms.

    Attributes:
        at_peak: its arithmetic at the highest rate that was measured.
        in_vectors: the same, counting also the places in vectors that a layer's channels leave
            empty.
        with_bytes: the sum over kinds of operations of `in_vectors`, or of reads and writes at the
            rate of copies if they take longer.
    """

    at_peak: Samples
    in_vectors: Samples
    with_bytes: Samples


def limit_of(results: Results, net: str, precision: str) -> Limit:
    """Return the limits of a step in that precision, from the operations of the engine's step."""
    peak = results.samples(names.RATE, names.ARITHMETIC[precision])
    copies = results.samples(names.RATE, names.COPIES)
    parts = parts_of(results, net, names.BF16 if precision == "bf16" else names.ENGINE)
    if not parts:
        none = Samples(missing=Reason(NOT_MEASURED, names.PARTS))
        return Limit(none, none, none)

    def total(column: str) -> float:
        return sum(float(part.columns[column]) for part in parts)

    def with_bytes(gflops: float, gbs: float) -> float:
        return sum(shortest_ms(part, gflops, gbs) for part in parts)

    return Limit(
        combine(lambda gflops: 1e3 * total("gflop") / gflops, peak),
        combine(lambda gflops: 1e3 * total("vector_gflop") / gflops, peak),
        combine(with_bytes, peak, copies),
    )


def shortest_ms(part: Measurement, gflops: float, gbs: float) -> float:
    """Return the longer of a part's arithmetic in vectors and its reads and writes, in ms."""
    arithmetic_ms = 1e3 * float(part.columns["vector_gflop"]) / gflops
    return max(arithmetic_ms, float(part.columns["mb"]) / gbs)


def parts_of(results: Results, net: str, loop: str) -> list[Measurement]:
    """Return a step's rows by kind of operation; empty if it was not measured."""
    return [
        m
        for kind in results.variants(names.PARTS, net=net, loop=loop)
        for m in results.series(names.PARTS, kind, net=net, loop=loop)
    ]


def filled(results: Results, net: str) -> Finding:
    """Return the share of the vectors' arithmetic that is not on empty places."""
    parts = parts_of(results, net, names.ENGINE)
    if not parts:
        return missing(Reason(NOT_MEASURED, names.PARTS))
    own, all_ = (
        sum(float(part.columns[column]) for part in parts) for column in ("gflop", "vector_gflop")
    )
    return exact(own / all_, "of the vectors")
