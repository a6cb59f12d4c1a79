"""What the page lets a reader play with: a step on other links, devices and batches.

`scaling_step.js` computes with the formulas of `stages/scaling/model.py` and of
`lab/parallel/cost_model.py`; a test compares them.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict

from lab.parallel.cost_model import (
    INTERCONNECTS,
    ONE_BUCKET,
    PER_TENSOR,
    RING,
    STAR,
    allreduce_name,
)
from lab.report.benchmarks import TITLES
from lab.report.language import say, translation
from lab.report.page import Choice, Explorable, Slider
from lab.results.findings import Findings
from lab.results.measurements import Results
from lab.results.stats import summarise
from stages.scaling.findings import NETS, compared_steps
from stages.scaling.measure.params import COMPUTING, NOTES, NOTES_IMAGES
from stages.scaling.model import fit_compute, models_of

HERE = "here"  # this machine's link, beside INTERCONNECTS by their names
MOST_DEVICES, MOST_IMAGES = 2**10, 2**16
ALLREDUCES = {  # whose messages are known
    allreduce_name(algorithm, grouping): (algorithm, grouping == ONE_BUCKET)
    for algorithm in (STAR, RING)
    for grouping in (PER_TENSOR, ONE_BUCKET)
}


def explorables(results: Results, found: Findings) -> list[Explorable]:
    """A step's time and efficiency against devices, from the steps measured here."""
    n = results.conditions["world_size"]
    links = {HERE: say("this machine")} | {i.name: translation(i.name) for i in INTERCONNECTS}
    images = n * NOTES_IMAGES["lenet"]
    return [
        Explorable(
            name="scaling_step",
            controls=[
                Choice("net", say("Network"), TITLES, "lenet"),
                Choice("link", say("Link"), links, HERE),
                Choice(
                    "allreduce",
                    say("All-reduce"),
                    {name: translation(name) for name in ALLREDUCES},
                    NOTES,
                ),
                Choice(
                    "batch",
                    say("Batch"),
                    {"divided": say("split over all devices"), "each": say("one for each device")},
                    "divided",
                ),
                _power_of_two("devices", say("Devices"), MOST_DEVICES, n),
                _power_of_two("images", say("Images in the batch"), MOST_IMAGES, images),
                Slider("overlap", say("Overlapped share"), low=0, high=1, value=0, step=0.05),
            ],
            outputs={
                "t1": say("Computing (t₁)"),
                "t2": say("Communicating (t₂)"),
                "step": say("Step"),
                "images_per_s": say("Images per second"),
                "efficiency": say("Efficiency (%)"),
            },
            words={
                "computing": say("Computing (t₁)"),
                "communicating": say("Communicating (t₂)"),
                "step": say("Step"),
                "bounds": say("from max(t₁, t₂) to t₁ + t₂"),
                "measured": say("measured with {images} images each", images="{images}"),
                "devices": say("Devices"),
                "time": say("Time per step"),
                "efficiency": say("Efficiency (%)"),
            },
            data=facts(results),
        )
    ]


def facts(results: Results) -> Mapping[str, object]:
    """The numbers of the formulas, and the measured steps."""
    model, _ = models_of(results)
    return {
        "nets": {net: net_facts(results, net) for net in NETS},
        "links": {HERE: {**asdict(model.link), "shared": model.shared}}
        | {i.name: {**asdict(i.link), "shared": False} for i in INTERCONNECTS},
        "allreduces": ALLREDUCES,
        "measured": [
            {
                "net": step.net,
                "allreduce": step.allreduce,
                "devices": results.conditions["world_size"],
                "images": step.images,
                "seconds": summarise(step.measured.values).median / 1e3,
            }
            for step in compared_steps(results)
            if step.allreduce in ALLREDUCES
        ],
    }


def net_facts(results: Results, net: str) -> Mapping[str, float]:
    """What a net computes, in seconds, and what it communicates."""
    series = results.series("step", COMPUTING, net=net)
    compute = fit_compute({m.x: m.summary.median for m in series})
    [gradients] = results.series("gradients", NOTES, net=net)
    return {
        "fixed_s": compute.fixed_ms / 1e3,
        "per_image_s": compute.per_image_ms / 1e3,
        "tensors": int(gradients.columns["tensors"]),
        "bytes": gradients.x,
    }


def _power_of_two(name: str, label: str, most: int, value: int) -> Slider:
    return Slider.by_factors(name, label, 1, most, 2 ** round(math.log2(value)), 2)
