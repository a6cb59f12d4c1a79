"""The numbers that bench_training's rows give, each derived once; sample i is of start i."""

from lab.results.findings import Finding, Samples, combine, median, ratio
from lab.results.measurements import Results
from stages.bench_training.measure import params as names

METRICS = (
    "lenet_fp32_speedup",
    "lenet_fp32_of_peak",
    "lenet_bf16_of_peak",
    "resnet18_fp32_speedup",
    "resnet18_fp32_of_peak",
)
ON_DEVICES = {  # how many times as fast as one device two are, by what they train and how
    "notes_lenet_loop": (names.NOTES_LENET, names.LOOP),
    "notes_lenet_threads": (names.NOTES_LENET, names.THREADS),
    "large_batch_threads": (names.LARGE_BATCH, names.THREADS),
    "wider_loop": (names.WIDE, names.LOOP),
    "wider_threads": (names.WIDE, names.THREADS),
}


def findings(results: Results) -> dict[str, Finding]:
    def speedup(experiment: str, variant: str, over: str) -> Finding:
        return ratio(results.samples(experiment, over), results.samples(experiment, variant))

    def of_peak(net: str, variant: str, product: str) -> Finding:
        """A variant's FLOP per second over the peak of its own arithmetic."""
        at_peak = ms_at_peak(results, net, product)
        return ratio(at_peak, results.samples(net, variant), "of the peak", better="more")

    def seconds(net: str, variant: str) -> Finding:
        return median(results.samples(net, variant) * 1e-3, "s", better="less")

    found: dict[str, Finding] = {}
    for net in names.NETS:
        notes, bf16 = notes_variant(results, net), fastest_bf16(results, net)
        fp32 = names.FP32 if names.FP32 in results.variants(net) else names.ENGINE
        found |= {
            # over the notes' way, both in torch's own arithmetic
            f"{net}_fp32_speedup": speedup(net, names.ENGINE, over=notes),
            f"{net}_graph_speedup": speedup(net, names.GRAPH, over=notes),
            f"{net}_bf16_speedup": speedup(net, bf16, over=notes),
            f"{net}_bf16_over_fp32": speedup(net, names.BF16, over=fp32),
            f"{net}_fp32_of_peak": of_peak(net, fp32, names.PRODUCT),
            f"{net}_tf32_of_peak": of_peak(net, names.TF32, names.TF32_PRODUCT),
            f"{net}_bf16_of_peak": of_peak(net, bf16, names.BF16_PRODUCT),
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
    """The notes' way that others are held against, not the one that the trial found slower."""
    ways = [name for name in names.BY_THE_NOTES.values() if name in results.variants(net)]
    if len(ways) == 1:
        return ways[0]
    return names.BY_THE_NOTES[results.conditions.get(names.NOTES_WORKERS, 0)]


def fastest_bf16(results: Results, net: str) -> str:
    """The variant in bfloat16 with the shortest steps, of those that were measured."""
    measured = [name for name in (names.BF16, names.COMPILED_BF16) if name in results.variants(net)]
    return min(
        measured, key=lambda name: median(results.samples(net, name)).value, default=names.BF16
    )


def ms_at_peak(results: Results, net: str, product: str = names.PRODUCT) -> Samples:
    """What a step would take at the machine's peak in the arithmetic of `product`.

    That is the rate of large products or of convolutions, whichever is the higher one.
    """
    of_step = [
        results.samples(net, name) * products
        for name in (product, names.CONVOLUTION_OF[product])
        for products in results.xs(net, name)
    ]
    if not of_step:
        return results.samples(net, product)
    return combine(lambda *ms: min(ms), *of_step)
