"""The numbers derived from own_network's rows; sample i is from start i."""

from itertools import combinations
from math import isfinite
from statistics import fmean
from statistics import median as middle

from lab.results.findings import (
    AS_FAST,
    Finding,
    Samples,
    combine,
    exact,
    median,
    missing,
    of_one_run,
    ratio,
)
from lab.results.measurements import Results, again
from lab.results.reasons import NOT_MEASURED, UNUSABLE, Reason
from lab.results.stats import FEWEST, SMALLEST_EFFECT
from stages.own_network.measure import names
from stages.own_network.measure.names import ALL, ALONE, BASELINE, OPPONENT, TOGETHER, identifier

METRICS = ("speedup", "examples_per_s", "of_peak_percent", "input_percent", "memory_mib")


def findings(results: Results) -> dict[str, Finding]:
    """Derive the gain of each technique, of those combined, and where a step's time goes."""
    found = {"control": speedup(results, again(BASELINE))}
    for name in names.TECHNIQUES:
        found[f"{identifier(name)}_speedup"] = speedup(results, name)
        found[f"{identifier(name)}_differs"] = differs(results, name)
    examples = results.conditions.get(names.BATCH_SIZE, float("nan"))
    baseline, combined = (results.samples(TOGETHER, name) for name in (BASELINE, ALL))
    step = results.samples(ALONE, BASELINE)
    parts = {name: results.samples(names.PARTS, name) for name in (*names.STEP_PARTS, names.OF_FEW)}
    whole = combine(lambda *ms: sum(ms), *(parts[name] for name in names.STEP_PARTS))
    computing = whole - parts[names.INPUT]

    def percent(share: Samples, better: str = "") -> Finding:
        return median(share * 100, "%", better=better)  # type: ignore[arg-type]

    def limit(what: str) -> Samples:
        """Return the milliseconds that the counted work takes at the machine's highest rate."""
        amounts, rates = (results.samples(kind, what) for kind in (names.COUNTED, names.RATE))
        return combine(lambda amount, rate: 1e3 * amount / rate, amounts, rates)

    return {
        **found,
        "speedup": ratio(baseline, combined),
        "examples_per_s": median(
            combine(lambda ms: 1e3 * examples / ms, step), "examples/s", better="more"
        ),
        "baseline_s": median(step * 1e-3, "s", better="less"),
        "of_peak_percent": percent(limit(names.FLOP) / computing, "more"),
        "of_bandwidth_percent": percent(limit(names.BYTES) / computing),
        "input_percent": percent(parts[names.INPUT] / whole),
        "calls_percent": percent(parts[names.OF_FEW] / computing),
        "memory_mib": median(results.samples(names.PEAK_MEMORY, BASELINE), "MiB", better="less"),
        "seeds_differ": seeds_differ(results),
        "builds_s": builds(results),
        "pays_after": pays_after(results),
    }


def speedup(results: Results, technique: str) -> Finding:
    """Return how many times as fast a technique is as the file as it is."""
    return median(gains(results, technique), AS_FAST, better="more")


def gains(results: Results, technique: str) -> Samples:
    """Return a technique's speed relative to the file as it is, in each start."""
    control = technique == again(BASELINE)
    opponent = (ALONE, BASELINE) if control else (OPPONENT, technique)
    samples = results.samples(ALONE, technique), results.samples(*opponent)
    return combine(lambda own, others: others / own, *samples)


def helps(results: Results, technique: str) -> bool:
    """Return whether a technique is certainly faster: its interval lies above the control's."""
    found, control = speedup(results, technique), speedup(results, again(BASELINE))
    return found.verdict == "faster" and bool(control) and found.low > control.high


def promises(results: Results, technique: str) -> bool:
    """Return whether a technique gained in each start, and typically more than the control in any.

    With four starts, one without effect does so at most once in 45 runs, however noisy (simulated).
    """
    tried, control = gains(results, technique), gains(results, again(BASELINE))
    if not tried or not control or len(tried.values) < FEWEST:
        return False
    each_gains = min(tried.values) > 1 + SMALLEST_EFFECT
    return each_gains and middle(tried.values) > max(control.values)


def chosen(results: Results) -> list[str]:
    """Return the techniques that promise a gain and keep the training the same, fastest first.

    Of two that exclude each other, only the faster one.
    """
    best = [name for name in names.SAME_STEPS if promises(results, name) and same(results, name)]
    best.sort(key=lambda name: -speedup(results, name).value)
    kept: list[str] = []
    for name in best:
        if not any(name in pair and other in kept for pair in names.INSTEAD for other in pair):
            kept.append(name)
    return kept


def same(results: Results, technique: str) -> bool:
    """Return whether its losses differ from the baseline's by no more than two seeds' do."""
    found, seeds = differs(results, technique), seeds_differ(results)
    return bool(found and seeds) and found.value <= seeds.value


def differs(results: Results, technique: str) -> Finding:
    """Return the largest distance of its losses from the baseline's with the same seed."""
    theirs, baselines = losses(results, technique), losses(results, BASELINE)
    if not theirs or len(theirs) != len(baselines):
        return missing(Reason(NOT_MEASURED, f"{names.LOSS}, {technique}"))
    found = [distance(*pair) for pair in zip(theirs, baselines, strict=True)]
    if not all(map(isfinite, found)):
        return missing(Reason(UNUSABLE, "the loss is no finite number"))
    return exact(max(found))


def seeds_differ(results: Results) -> Finding:
    """Return the median distance between the baseline's losses of two seeds."""
    pairs = [*combinations(losses(results, BASELINE), 2)]
    if not pairs:
        return missing(Reason(NOT_MEASURED, f"{names.LOSS}, two seeds"))
    return exact(middle(distance(*pair) for pair in pairs))


def losses(results: Results, technique: str) -> list[tuple[float, ...]]:
    """Return the losses of the first steps, by seed."""
    return [*zip(*(m.values for m in results.series(names.LOSS, technique)), strict=False)]


def distance(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    """Return the mean absolute difference of two runs' losses."""
    return fmean(abs(a - b) for a, b in zip(one, other, strict=True))


def builds(results: Results) -> Finding:
    """Return the seconds of a compiled net's first step, with an empty cache."""
    first = results.samples(names.FIRST_STEP, names.COMPILE)
    return (
        missing(first.missing, "s") if first.missing else of_one_run(first.values[0], "s", "less")
    )


def pays_after(results: Results) -> Finding:
    """Return the number of steps after which compiling has paid for its first one."""
    first, step, compiled = (
        results.samples(names.FIRST_STEP, names.COMPILE),
        results.samples(OPPONENT, names.COMPILE),
        results.samples(ALONE, names.COMPILE),
    )
    for samples in (first, step, compiled):
        if samples.missing:
            return missing(samples.missing, "steps", samples)
    gained_s = 1e-3 * (middle(step.values) - middle(compiled.values))
    if gained_s <= 0:
        return missing(Reason(UNUSABLE, "it does not pay"), "steps")
    return of_one_run(first.values[0] / gained_s, "steps", "less")
