"""The numbers derived from bench_parallel's rows."""

from lab.results.findings import AS_LONG, Finding, Samples, exact, median, missing, ratio
from lab.results.measurements import Results
from lab.results.reasons import NOT_LONGER, Reason

METRICS = ("speedup", "small_speedup")
LONGER_SECOND = "products, second job longer"


def findings(results: Results) -> dict[str, Finding]:
    rows = sizes(results)
    smallest, largest = min(rows, default=None), max(rows, default=None)

    def products(variant: str) -> Samples:
        return results.samples("products", variant, largest)

    def seconds(samples: Samples) -> Finding:
        return median(samples * 1e-3, "s", better="less")

    first, second = products("first device only"), products("second device only")
    in_turn, both = products("sequentially"), products("concurrently")
    in_one_thread = first + second
    one_chain, one_chain_on_two, two_chains = (
        results.samples("dependencies", chains)
        for chains in ("one chain, one device", "one chain, two devices", "two chains, two devices")
    )
    later_runs = results.samples("warm-up", "later runs")
    no_argument, current, both_gpus = (
        results.samples(LONGER_SECOND, f"wait {wait}")
        for wait in ("without an argument", "for the current GPU", "for both GPUs")
    )
    return {
        "speedup": speedup(results, largest),
        "small_speedup": speedup(results, smallest),
        "sequential_s": seconds(in_turn),
        "concurrent_s": seconds(both),
        "slower_s": max(seconds(first), seconds(second), key=lambda alone: alone.value),
        "one_thread_s": seconds(in_one_thread),
        "over_one_thread": ratio(in_one_thread, both),
        "chains": ratio(one_chain, two_chains),
        "one_chain_on_two": ratio(one_chain, one_chain_on_two),
        "first_run": ratio(results.samples("warm-up", "first run"), later_runs, AS_LONG),
        "second_run": ratio(results.samples("warm-up", "second run"), later_runs, AS_LONG),
        "products_of_a_run": exact(
            results.samples("the notes' run", "products of a run"), "matrix multiplications"
        ),
        "wait_s": seconds(no_argument),
        "both_gpus_s": seconds(both_gpus),
        "both_gpus_over_wait": both_gpus_over_wait(no_argument, current, both_gpus),
    }


def sizes(results: Results) -> list[float]:
    """Return the rows of the multiplied matrices, in increasing order."""
    return results.xs("products", "concurrently")


def speedup(results: Results, rows: float | None) -> Finding:
    """Return the speed of concurrent runs relative to sequential ones."""
    in_turn, both = (
        results.samples("products", variant, rows) for variant in ("sequentially", "concurrently")
    )
    return ratio(in_turn, both)


def both_gpus_over_wait(no_argument: Samples, current: Samples, both: Samples) -> Finding:
    """Return a wait for both GPUs relative to one without an argument.

    It is missing if the results say that waiting for both is not slower than for the current one.
    """
    control = ratio(both, current)
    if control and control.decides and control.verdict != "faster":
        return missing(Reason(NOT_LONGER, "bench_parallel.largest"), AS_LONG, both)
    return ratio(both, no_argument, AS_LONG)
