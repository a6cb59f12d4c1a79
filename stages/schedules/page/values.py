"""What the page on learning-rate schedules names beside findings."""

from collections.abc import Mapping

from lab.results.findings import Finding, Over, missing
from lab.results.measurements import Results
from lab.results.reasons import NOT_MEASURED, Reason
from stages.schedules.findings import best_schedule
from stages.schedules.measure.names import BASE, CONSTANT, NO_WARM_UP

DIFFERS = ("more", "less", "unclear")
OUTCOMES = {
    "cosine": DIFFERS,
    "late_loop": DIFFERS,
    "warm_up": ("faster", "slower", "inconclusive"),
    "resnet18_warm_up_gain": (
        missing(Reason(NOT_MEASURED, "ResNet-18")),
        Finding(1.5, 1.2, 1.9, 8, Over.SEEDS),
    ),
    "bears_base": (True, False),
    "at_start": (True, False),
    "synthetic": (False, True),
}
TENTH = 10  # percent of a run


def values(results: Results, found: Mapping[str, Finding]) -> dict[str, object]:
    m, gain = results.conditions, found["cosine_gain"]
    plain = results.samples("highest_stable_rate", NO_WARM_UP, net="lenet").values
    cosine, constant = (
        results.samples("schedule_accuracy", name).values for name in ("cosine", CONSTANT)
    )
    return {
        "cosine": differs(gain),
        "level": round(100 * gain.level),
        "seeds": gain.n,
        "wins": sum(a > b for a, b in zip(cosine, constant, strict=True)),
        "late_loop": differs(found["late_gain"]),
        "warm_up": found["lenet_warm_up_gain"].verdict,
        "lowest": min(plain),
        "highest": max(plain),
        "bears_base": min(plain) > BASE,  # the notes' rate from the first step, whatever the seed
        "at_start": found["divergence_onset"].value < TENTH,
        "steps": len(results.xs("losses", "diverges", net="lenet")),
        "side": m["image_side"],
        "batch": m["batch_size"],
        "run_steps": m["steps"],
        "best": best_schedule(results),
        "synthetic": m.get("dataset") != "fashion-mnist",
    }


def differs(found: Finding) -> str:
    """Whether a difference is surely above or below 0."""
    if not found.decides or found.low <= 0 <= found.high:
        return "unclear"
    return "more" if found.low > 0 else "less"
