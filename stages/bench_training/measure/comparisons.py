"""What the rows say of one variant against another; sample i of each is of start i."""

from lab.results.measurements import Results
from lab.results.stats import Ratio, speedup
from stages.bench_training.measure import names


def notes_variant(results: Results, net: str, notes_workers: int) -> str:
    """The notes' way that others are held against, not the one that the trial found slower."""
    raced = [variant for variant in names.BY_THE_NOTES.values() if variant in results.variants(net)]
    return names.BY_THE_NOTES[notes_workers] if len(raced) > 1 else raced[0]


def gain(results: Results, experiment: str, variant: str, over: str) -> Ratio | None:
    """How many times faster a variant is than another; None where one was not measured."""
    new, old = results.one(experiment, variant), results.one(experiment, over)
    return speedup(old.values, new.values) if old and new else None


def fastest_bf16(results: Results, net: str) -> str:
    """The variant in bfloat16 with the shortest steps, of those that were measured."""
    measured = [
        m for variant in (names.BF16, names.COMPILED_BF16) if (m := results.one(net, variant))
    ]
    return min(measured, key=lambda m: m.summary.median).variant if measured else names.BF16


def against_the_notes(results: Results, net: str) -> dict[str, str]:
    """The variants that are held against the notes' way, by metric."""
    found = {names.FP32_SPEEDUP: names.ENGINE, names.GRAPH_SPEEDUP: names.GRAPH}
    if names.GRAPH in results.variants(net):
        found[names.BF16_SPEEDUP] = fastest_bf16(results, net)
    return found


def against_the_peak(results: Results, net: str) -> dict[str, tuple[str, str]]:
    """The variants that are held against the peak of their own arithmetic, by metric."""
    strict = names.FP32 if names.FP32 in results.variants(net) else names.ENGINE
    return {
        names.FP32_OF_PEAK: (strict, names.PRODUCT),
        names.TF32_OF_PEAK: (names.TF32, names.TF32_PRODUCT),
        names.BF16_OF_PEAK: (fastest_bf16(results, net), names.BF16_PRODUCT),
    }


def ms_at_peak(results: Results, net: str, product: str = names.PRODUCT) -> list[float]:
    """What a step would take at the machine's peak in the arithmetic of `product`, in each start.

    That is the rate of large products or of convolutions, whichever is the higher one.
    """
    raced = [results.one(net, name) for name in (product, names.CONVOLUTION_OF[product])]
    of_step = [[m.x * ms for ms in m.values] for m in raced if m]
    return [min(each) for each in zip(*of_step, strict=True)]


def share_of_peak(
    results: Results, net: str, variant: str = names.ENGINE, product: str = names.PRODUCT
) -> Ratio | None:
    """A variant's FLOP per second over the peak in the same starts."""
    found = results.one(net, variant)
    return speedup(ms_at_peak(results, net, product), found.values) if found else None
