"""What the page on steps of several devices names: numbers, and what they decide."""

import math
from pathlib import Path

from lab.parallel.cost_model import PER_TENSOR, STAR
from lab.report.benchmarks import TITLES, read
from lab.report.language import translation
from lab.results.measurements import Results
from lab.results.stats import POSITIVE, Ratio, median_of, paired_ratios, speedup
from stages.scaling.measure import predictions, simulated, step_model
from stages.scaling.measure.predictions import EQUAL_IMAGES, NOTES_IMAGES, compared_steps

CLOSER = 1.25  # times as far off as the other: that rule is the worse one
OUTCOMES = {
    "rule": ("sum", "max", "neither"),
    "longer": ("faster", "inconclusive", "slower"),
    "late": (True, False),
    "virtual": (True, False),
    "extrapolated": (True, False),
    "noise": (True, False),
}


def values(folder: Path) -> dict[str, object]:
    """The values of `folder` (reports/scaling)."""
    results, m = read(folder)
    n, steps, waits = m["world_size"], compared_steps(results), step_model.waits(results)
    mean, of_max = m["mean_error_percent"], m["max_rule_mean_error_percent"]
    longer = over_longer(results)
    return {
        "n": n,
        "starts": m["starts"],
        "virtual": m["device_kind"] == "cpu-virtual",
        "rule": "sum" if of_max > CLOSER * mean else "max" if mean > CLOSER * of_max else "neither",
        "mean": mean,
        "of_max": of_max,
        "floor": m["noise_floor_percent"],
        "noise": m["noise_floor_percent"] >= mean,
        "over_longer": longer,
        "longer": longer.verdict,
        "gain": {net: gain(results, net) for net in TITLES},
        "share": {net: results.series("efficiency", net)[0].summary.median for net in TITLES},
        "equal_images": EQUAL_IMAGES,
        "batch": n * NOTES_IMAGES["lenet"],
        "crossing": {net: crossing(results, net, n) for net in TITLES},
        "late": max(waits.values()) > 0,
        "waits": {name: Ratio(late, late, late, m["starts"]) for name, late in waits.items()},
        "extrapolated": results.one("without communication", "resnet18", notes_images()) is None,
        "most_images": int(results.series("without communication", "resnet18")[-1].x),
        "notes_images": notes_images(),
        "steps": [
            {
                "net": TITLES[step.net],
                "allreduce": translation(step.allreduce),
                "images": int(step.measured.x),
                "t1": step.t1.summary.median,
                "t2": step.t2.summary.median,
                "measured": step.measured.summary.median,
                "error": 100 * step.error,
            }
            for step in steps
        ],
        "published": [
            {
                "name": run.name,
                "devices": run.devices,
                "gbit": run.gbit,
                "efficiency": run.efficiency,
                "lost_ms": 1e3 * run.exposed_s,
                "allreduce_ms": 1e3 * run.t2_s,
            }
            for run in simulated.PUBLISHED
        ],
        "explained": sum(run.exposed_s <= run.t2_s for run in simulated.PUBLISHED),
        "kept": kept(results),
        "most_devices": simulated.HOSTS[-1] * simulated.PER_HOST,
    }


def notes_images() -> int:
    """The images of ResNet-18's batch on each of the notes' two devices."""
    return NOTES_IMAGES["resnet18"]


def gain(results: Results, net: str) -> Ratio:
    """How many times as fast several devices take a step of the notes' batch as one."""
    one, several = (
        results.series("notes' batch", name, net=net)[0].values
        for name in ("whole batch on one device", "step")
    )
    return speedup(one, several)


def over_longer(results: Results) -> Ratio:
    """LeNet's step at the notes' batch over the longer of its parts."""
    t1, t2, step = (
        results.series("notes' batch", name, net="lenet")[0].values
        for name in ("computing", "summing alone", "step")
    )
    return median_of(
        paired_ratios(step, [max(pair) for pair in zip(t1, t2, strict=True)]), POSITIVE
    )


def crossing(results: Results, net: str, n: int) -> int:
    """The batch over n devices from which on they compute longer than the notes' all-reduce."""
    return max(1, math.ceil(predictions.crossing(results, net, STAR, PER_TENSOR, n)))


def kept(results: Results) -> dict[str, float]:
    """The share of the ideal speed that the most simulated devices keep, by a host's link."""
    return {
        name: results.series("weak", name, net="resnet50")[-1].values[0]
        for name in results.variants("weak", net="resnet50")
    }
