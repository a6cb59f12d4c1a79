"""What the page on learning-rate schedules names: numbers, and what they decide."""

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from lab.report.benchmarks import read
from lab.results.measurements import Results
from lab.results.stats import ANY, CONFIDENCE, Ratio, median_of, speedup
from stages.schedules.measure.names import AS_THE_BOOK, BASE, CONSTANT, NO_WARM_UP, WARM_UP

LABELS = {  # of the schedules, as the page calls them
    CONSTANT: "constant",
    "square root": "square root",
    "factor 0.9": "factor 0.9",
    "multi-step": "multi-step",
    "cosine": "cosine",
    "cosine, warm-up": "cosine, warm-up",
    "inverse sqrt, warm-up": "inverse sqrt, warm-up",
    "one-cycle": "one-cycle",
    AS_THE_BOOK: "the book's loop",
}
DIFFERS = ("more", "less", "unclear")
OUTCOMES = {
    "cosine": DIFFERS,
    "late_loop": DIFFERS,
    "warm_up": ("faster", "slower", "inconclusive"),
    "resnet": (None, Ratio(1.5, 1.2, 1.9, 8)),
    "bears_base": (True, False),
    "at_start": (True, False),
    "synthetic": (False, True),
}
TENTH = 10  # percent of a run


def values(folder: Path) -> dict[str, object]:
    """The values of `folder` (reports/schedules)."""
    results, m = read(folder)
    found = accuracies(results)
    gain = points(found["cosine"], found[CONSTANT])
    late = points(found[AS_THE_BOOK], found["cosine, warm-up"])
    plain, _ = highest_rates(results, "lenet")
    warm = warm_up_gain(results, "lenet")
    onset = median(samples(results, "divergence_onset", NO_WARM_UP, net="lenet"))
    return {
        "cosine": differs(gain),
        "gain": gain,
        "level": round(100 * gain.level),
        "seeds": gain.count,
        "wins": sum(a > b for a, b in zip(found["cosine"], found[CONSTANT], strict=True)),
        "late_loop": differs(late),
        "late": late,
        "warm_up": warm.verdict,
        "warm": warm,
        "resnet": warm_up_gain(results, "resnet18") if "resnet18" in m["nets"].split() else None,
        "lowest": min(plain),
        "highest": max(plain),
        "bears_base": min(plain) > BASE,  # the notes' rate from the first step, whatever the seed
        "onset": onset,
        "at_start": onset < TENTH,
        "steps": len(results.curves("losses", net="lenet")["diverges"].x),
        "side": m["image_side"],
        "batch": m["batch_size"],
        "run_steps": m["steps"],
        "best": LABELS[m["best_schedule"]],
        "best_percent": m["best_accuracy_percent"],
        "constant_percent": m["constant_accuracy_percent"],
        "synthetic": m.get("dataset") != "fashion-mnist",
    }


def accuracies(results: Results) -> dict[str, Sequence[float]]:
    """The test accuracies (percent) under each schedule, by seed."""
    names = results.variants("schedule_accuracy")
    return {name: samples(results, "schedule_accuracy", name) for name in names}


def points(one: Sequence[float], other: Sequence[float]) -> Ratio:
    """How many points of accuracy one ends above the other: the median over the seeds."""
    return median_of([a - b for a, b in zip(one, other, strict=True)], ANY)


def differs(found: Ratio) -> str:
    """Whether a difference is surely above or below 0."""
    if found.level < CONFIDENCE or found.low <= 0 <= found.high:
        return "unclear"
    return "more" if found.low > 0 else "less"


def highest_rates(results: Results, net: str) -> tuple[Sequence[float], Sequence[float]]:
    """The highest stable rates without warm-up and with it, by seed."""
    plain, warm = (
        samples(results, "highest_stable_rate", variant, net=net)
        for variant in (NO_WARM_UP, WARM_UP)
    )
    return plain, warm


def samples(results: Results, experiment: str, variant: str, **columns: str) -> Sequence[float]:
    """What a variant has for each seed."""
    [found] = results.series(experiment, variant, **columns)
    return found.values


def warm_up_gain(results: Results, net: str) -> Ratio:
    """How many times as high a rate a net bears with warm-up."""
    plain, warm = highest_rates(results, net)
    return speedup(warm, plain)
