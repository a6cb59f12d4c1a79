"""The numbers derived from bench_hardware's rows."""

from lab.results.findings import (
    AS_FAST,
    AS_LONG,
    Finding,
    Samples,
    combine,
    exact,
    median,
    missing,
    ratio,
)
from lab.results.measurements import Results
from lab.results.reasons import NEEDS_CORES, Reason

METRICS = ("vectorised_speedup", "peak_float32_gflop_per_s", "copy_gb_per_s")
FIRST_CACHE, SECOND_CACHE = 2**12, 2**18  # bytes of working sets that fit
STEMS = ("the notes' small stem", "the original stem")
GPU = 0  # x of a GPU's rates; of a CPU's rates, x is the number of threads


def findings(results: Results) -> dict[str, Finding]:
    samples = results.samples

    def at_most(experiment: str, variant: str) -> Samples:
        most = max(results.xs(experiment, variant), default=None)
        return samples(experiment, variant, most)

    def best(experiment: str, variant: str) -> Samples:
        """Return the samples of the GPU or else of all cores, where the networks run."""
        return samples(experiment, variant, GPU) or at_most(experiment, variant)

    def speedup(experiment: str, old: str, new: str, unit: str = AS_FAST) -> Finding:
        return ratio(samples(experiment, old), samples(experiment, new), unit)

    products, copy = best("peak", "float32"), best("bandwidth", "copy")
    peak = combine(max, products, best("peak", "float32 convolution"))
    far = at_most("latency", "dependent loads")
    near, second = (
        samples("latency", "dependent loads", cache) for cache in (FIRST_CACHE, SECOND_CACHE)
    )
    small_flop, original_flop, resnet18_flop, lenet_flop = (
        samples("counted GFLOP", each) for each in (*STEMS, "ResNet-18 (28 x 28)", "LeNet")
    )
    return {
        "vectorised_speedup": speedup("adding", "Python loop", "one call"),
        "peak_float32_gflop_per_s": median(peak, "GFLOP/s", better="more"),
        "matrices_gflop_per_s": median(products, "GFLOP/s", better="more"),
        "copy_gb_per_s": median(copy, "GB/s", better="more"),
        "ridge": ratio(peak, copy, "FLOP per byte"),
        **under_the_roof(results, peak, copy),
        "bfloat16": ratio(best("peak", "bfloat16"), products),
        "matmul": speedup("matmul", "all at once", "one element at a time"),
        "blocks": speedup("matmul", "64 columns at a time", "all at once"),  # rates
        "second_cache": ratio(second, near, AS_LONG),
        "main_memory": ratio(far, near, AS_LONG),
        "main_memory_ns": median(far, "ns", better="less"),
        "random_order": ratio(far, samples("latency", "loads in order"), AS_LONG),
        "no_reuse": speedup("reuse", "8 times all blocks", "each block 8 times", AS_LONG),
        "by_columns": speedup(
            "order", "row by row, stored by columns", "column by column, stored by columns"
        ),
        "all_cores": all_cores(results),
        "gpu_bandwidth": ratio(
            samples("bandwidth", "copy", GPU),
            at_most("bandwidth", "copy"),
            "times the bandwidth",
            better="more",
        ),
        "gpu_speedup": ratio(samples("peak", "float32", GPU), at_most("peak", "float32")),
        "launch_us": median(samples("transfers", "launches"), "µs", better="less"),
        "jumps": speedup(
            "transfers", "products by way of the processor", "products on the GPU", AS_LONG
        ),
        "small_stem": speedup("stem", *STEMS, AS_LONG),
        "small_stem_flop": exact(small_flop / original_flop, "times the FLOP"),
        "resnet18_flop": exact(resnet18_flop / lenet_flop, "times the FLOP"),
    }


def under_the_roof(results: Results, peak: Samples, copy: Samples) -> dict[str, Finding]:
    """Return each network's rate, and its share of what the roofline allows."""
    found = {}
    for net in results.variants("network"):
        rate, intensity = results.samples("network", net), results.xs("network", net)[0]
        allowed = combine(lambda flop, byte, of=intensity: min(flop, byte * of), peak, copy)
        found[f"rate of {net}"] = median(rate, "GFLOP/s", better="more")
        found[f"share of {net}"] = ratio(rate, allowed, "of the roofline", better="more")
    return found


def all_cores(results: Results) -> Finding:
    """Return the speed at which all cores add vectors, relative to one core."""
    cores = max(results.xs("vector rate", "one call"), default=None)
    one, all_ = (results.samples("vector rate", "one call", threads) for threads in (1, cores))
    if cores == 1:
        return missing(Reason(NEEDS_CORES, "2"), AS_FAST, one)
    return ratio(all_, one)
