"""What the page on steps of several devices names beside findings."""

import math
from collections.abc import Mapping

from lab.parallel.cost_model import PER_TENSOR, STAR, crossing_batch
from lab.report.benchmarks import TITLES
from lab.report.language import translation
from lab.results.findings import Finding
from lab.results.measurements import Results
from stages.scaling.measure import simulated
from stages.scaling.measure.predictions import EQUAL_IMAGES, NOTES_IMAGES, compared_steps
from stages.scaling.measure.step_model import compute_of


def values(results: Results, found: Mapping[str, Finding]) -> dict[str, object]:
    n = results.conditions["world_size"]
    return {
        "n": n,
        "starts": results.conditions["starts"],
        "equal_images": EQUAL_IMAGES,
        "batch": n * NOTES_IMAGES["lenet"],
        "crossing": {net: crossing(results, net, n) for net in TITLES},
        "most_images": int(results.xs("without communication", "resnet18")[-1]),
        "notes_images": NOTES_IMAGES["resnet18"],
        "steps": [
            {
                "net": TITLES[step.net],
                "allreduce": translation(step.allreduce),
                "images": int(step.measured.x),
                "t1": step.t1.summary.median,
                "t2": step.t2.summary.median,
                "measured": step.measured.summary.median,
                "error": 100 * step.error(),
            }
            for step in compared_steps(results)
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


def crossing(results: Results, net: str, n: int) -> int:
    """The batch over n devices from which on they compute longer than the notes' all-reduce.

    That takes what is predicted of the net's smallest steps.
    """
    compute = compute_of(results, net)
    t2_s = results.series("t2", STAR, net=net, grouping=PER_TENSOR)[0].summary.median / 1e3
    return max(1, math.ceil(crossing_batch(compute.fixed_s, compute.per_image_s, t2_s, n)))


def kept(results: Results) -> dict[str, float]:
    """The share of the ideal speed that the most simulated devices keep, by a host's link."""
    return {
        name: results.series("weak", name, net="resnet50")[-1].values[0]
        for name in results.variants("weak", net="resnet50")
    }
