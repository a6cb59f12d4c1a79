"""What the page on learning-rate schedules names beside findings."""

from collections.abc import Mapping

from lab.results.findings import Finding, Over, missing
from lab.results.measurements import Results
from lab.results.reasons import NOT_MEASURED, Reason
from stages.schedules.findings import best_schedule
from stages.schedules.measure.names import CONSTANT, NO_WARM_UP

OUTCOMES = {
    "resnet18_warm_up_gain": (
        missing(Reason(NOT_MEASURED, "ResNet-18")),
        Finding(1.5, 1.2, 1.9, 8, Over.SEEDS),
    ),
    "synthetic": (False, True),
}


def values(results: Results, found: Mapping[str, Finding]) -> dict[str, object]:
    m = results.conditions
    plain = results.samples("highest_stable_rate", NO_WARM_UP, net="lenet").values
    cosine, constant = (
        results.samples("schedule_accuracy", name).values for name in ("cosine", CONSTANT)
    )
    return {
        "seeds": found["cosine_gain"].n,
        "wins": sum(a > b for a, b in zip(cosine, constant, strict=True)),
        "lowest": min(plain),
        "highest": max(plain),
        "steps": len(results.xs("losses", "diverges", net="lenet")),
        "side": m["image_side"],
        "batch": m["batch_size"],
        "run_steps": m["steps"],
        "best": best_schedule(results),
        "synthetic": m.get("dataset") != "fashion-mnist",
    }
