"""The numbers derived from convergence's rows."""

from dataclasses import replace

from lab.results.findings import (
    AS_FAST,
    AS_LONG,
    POINTS,
    Finding,
    Over,
    Samples,
    combine,
    difference,
    exact,
    median,
    missing,
    ratio,
)
from lab.results.measurements import Results
from lab.results.reasons import NOT_MEASURED, TARGET_MISSED, Reason
from lab.results.stats import PERCENT
from stages.convergence.measure.names import (
    FIXED,
    LARS,
    LENET,
    MOMENTUM,
    NETS,
    NOTES_BATCH,
    PLAIN,
    RULES,
    SCALED,
    SMALL_BATCH,
    STEMS,
)

METRICS = (
    "lenet_not_reached_percent",
    "lenet_diverged_percent",
    "resnet18_not_reached_percent",
    "resnet18_diverged_percent",
)
SMALLEST, LARGE, VERY_LARGE = 64, 256, 4096  # images; LARGE: on four devices of SMALLEST each
STALE = 3  # steps, as with four workers
TIMES_THE_EPOCHS = "times as many epochs"

Runs = tuple[str, int]  # of LeNet: the variant, the batch size


def findings(results: Results) -> dict[str, Finding]:
    small, large = batch_sizes(results)
    oldest = oldest_gradients(results)

    def of_runs(experiment: str, runs: Runs) -> Samples:
        variant, batch_size = runs
        return results.samples(experiment, variant, net=LENET, batch_size=batch_size)

    def share(few: Runs, many: Runs, unit: str) -> Finding:
        """Return the epochs of `few` in percent of the epochs of `many`, by seed.

        A run of `many` that missed the target would have needed more than the budget, so its share
        lies between 0 and the share at the budget. The smallest shares give the interval's lower
        end, the largest give the value and the upper end.
        """
        reached = of_runs("reached", few).values
        if missed := len(reached) - sum(reached):
            how_many = f"{missed:.0f} of {len(reached)}"
            return missing(Reason(TARGET_MISSED, how_many), unit)
        largest = of_runs("epochs", few) / of_runs("epochs", many) * 100
        smallest = combine(
            lambda share, ended: share if ended else 0.0, largest, of_runs("reached", many)
        )
        above, below = (
            median(each, unit, Over.SEEDS, better="less") for each in (largest, smallest)
        )
        return replace(above, low=below.low) if below else below

    def times(many: Runs, few: Runs) -> Finding:
        """Return the ratio of epochs, `many` to `few`, by seed; a miss counts the whole budget."""
        more, fewer = (of_runs("epochs", each) for each in (many, few))
        return ratio(more, fewer, TIMES_THE_EPOCHS, Over.SEEDS, better="less")

    def on_devices(times: Finding) -> Finding:
        """Return the speed-up to the target of devices that split a batch, a small batch each."""
        value, low, high = (large / small / x for x in (times.value, times.high, times.low))
        return replace(times, value=value, low=low, high=high, unit=AS_FAST, better="more")

    def after_short_run(staleness: int) -> Samples:
        return results.samples("short_run", PLAIN, staleness=staleness)

    def cost(staleness: int) -> Finding:
        fresh, old = after_short_run(0), after_short_run(staleness)
        return difference(fresh, old, POINTS, better="less")

    def accuracy(samples: Samples) -> Finding:
        return median(samples, "%", Over.SEEDS, PERCENT, better="more")

    of_large, of_small = (
        results.samples("us_per_image", PLAIN, net=LENET, batch_size=n) for n in (large, small)
    )
    of_few, of_notes = (
        results.samples("notes_us_per_image", PLAIN, batch_size=n)
        for n in (SMALL_BATCH, NOTES_BATCH)
    )
    small_stem, original_stem = (results.samples("by_stem", stem) for stem in STEMS)
    fixed, scaled = (times((rule, large), (FIXED, small)) for rule in RULES)
    found = {
        "small_batch_share": share(
            (FIXED, SMALLEST), (FIXED, LARGE), "% of these epochs suffice with batches of 64"
        ),
        "tuned_small_batch_share": share(
            (MOMENTUM, SMALLEST),
            (MOMENTUM, VERY_LARGE),
            "% of these epochs suffice with batches of 64",
        ),
        "scaled_rate_share": share(
            (SCALED, LARGE), (FIXED, LARGE), "% of these epochs suffice at four times the rate"
        ),
        "lars_share": share(
            (LARS, VERY_LARGE), (MOMENTUM, VERY_LARGE), "% of these epochs suffice with LARS"
        ),
        "times": fixed,
        "scaled_times": scaled,
        "scaled_over_fixed": times((SCALED, large), (FIXED, large)),
        "gain": on_devices(fixed),
        "scaled_gain": on_devices(scaled),
        "image_time": ratio(of_large, of_small, AS_LONG, better="less"),
        "batch_speedup": ratio(of_few, of_notes),
        "fresh_accuracy": accuracy(after_short_run(0)),
        "oldest_accuracy": accuracy(after_short_run(oldest)),
        "oldest_cost": cost(oldest),
        "stale_cost": cost(STALE),
        "small_stem": accuracy(small_stem),
        "original_stem": accuracy(original_stem),
        "small_stem_gain": difference(small_stem, original_stem, POINTS),
    }
    for net in NETS:
        found |= failed(results, net)
    return found


def batch_sizes(results: Results) -> tuple[int, int]:
    """Return LeNet's two smallest batch sizes."""
    sizes = [int(m.columns["batch_size"]) for m in results.series("epochs", FIXED, net=LENET)]
    return (sizes[0], sizes[1]) if len(sizes) > 1 else (SMALLEST, LARGE)


def oldest_gradients(results: Results) -> int:
    """Return the age in steps of the oldest gradients in the short runs."""
    ages = (int(m.columns["staleness"]) for m in results.series("short_run", PLAIN))
    return max(ages, default=STALE)


def failed(results: Results, net: str) -> dict[str, Finding]:
    """Return the shares of a net's runs, over all variants, that missed the target or diverged."""
    reached, diverged = (
        [
            value
            for variant in results.variants(experiment, net=net)
            for value in results.samples(experiment, variant, net=net).values
        ]
        for experiment in ("reached", "diverged")
    )
    missed = len(reached) - sum(reached) - sum(diverged)
    counts, unit = {"not_reached": missed, "diverged": sum(diverged)}, "% of the runs"
    return {
        f"{net}_{ending}_percent": exact(100 * count / len(reached), unit, "less")
        if reached
        else missing(Reason(NOT_MEASURED, net), unit)
        for ending, count in counts.items()
    }
