"""The page's explorable: a step of the reader's own network on the reader's own devices.

`scaling_step.js` has the formulas of `lab/parallel/cost_model.py`; a test compares them.
"""

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
from lab.report.language import say, translation
from lab.report.page import Choice, Explorable, Slider, three_digits
from lab.results.findings import Findings
from lab.results.measurements import Results
from stages.scaling.measure.names import COMPUTING, NOTES, NOTES_IMAGES
from stages.scaling.model import fit_compute, models_of

Setting = Mapping[str, float | str]  # values by control

HERE, OWN = "here", "own"  # links in addition to INTERCONNECTS
EACH, DIVIDED = "each", "divided"  # a batch for each device, or one split over all
DDP_BUCKET = 25 * 2**20  # bytes, PyTorch's default
ALLREDUCES = {  # those with known messages
    allreduce_name(algorithm, grouping): (algorithm, grouping == ONE_BUCKET)
    for algorithm in (STAR, RING)
    for grouping in (PER_TENSOR, ONE_BUCKET)
}
LEAST_S = 1e-6  # least fixed time of a step
ON_ONE_BUCKET: Setting = {
    "batch": EACH,
    "allreduce": allreduce_name(RING, ONE_BUCKET),
    "bucket": DDP_BUCKET,
}

# 25.6 million parameters; 3 x 4.1 GFLOP per image. NVIDIA's DeepLearningExamples report 2,470
# images/s for an A100 in mixed precision; an H100 is assumed to be twice as fast: 60 TFLOP/s.
RESNET50_ON_H100: Setting = {
    "per_image": 0.2e-3,
    "fixed": LEAST_S,
    "images": 256,
    "bytes": 102.2e6,
    "tensors": 161,
    "link": "100 Gb/s network",
    "devices": 8,
    **ON_ONE_BUCKET,
}
# 3 x 0.91 GFLOP per image of the notes' ResNet-18, at 0.2 TFLOP/s; gigabit Ethernet
LAPTOPS: Setting = {
    "per_image": 14e-3,
    "fixed": LEAST_S,
    "images": 32,
    "link": OWN,
    "latency": 100e-6,
    "bandwidth": 0.125e9,
    "devices": 8,
    **ON_ONE_BUCKET,
}


def explorables(results: Results, found: Findings) -> list[Explorable]:
    """A step's time and efficiency against the number of devices, by three rules."""
    lenet, resnet18 = (measured(results, net) for net in NOTES_IMAGES)
    start = {**LAPTOPS, **RESNET50_ON_H100}
    links = {HERE: say("this machine")} | {i.name: translation(i.name) for i in INTERCONNECTS}

    def slider(
        name: str, label: str, low: float, high: float, unit: str = "", whole: bool = False
    ) -> Slider:
        return Slider.over_decades(name, label, low, high, float(start[name]), unit, whole)

    return [
        Explorable(
            name="scaling_step",
            presets={
                say("ResNet-50, 8 × H100"): RESNET50_ON_H100,
                say("LeNet, this machine"): lenet,
                say("ResNet-18, this machine"): resnet18,
                say("ResNet-18, 8 laptops"): {**resnet18, **LAPTOPS},
            },
            controls=[
                slider("per_image", say("Time per image"), 1e-6, 10, "s"),
                slider("images", say("Batch"), 1, 2**16, whole=True),
                slider("bytes", say("Gradients"), 1e4, 1e12, "B"),
                slider("devices", say("Devices"), 1, 10_000, whole=True),
                Choice("link", say("Link"), links | {OWN: say("your own")}, str(start["link"])),
                slider("latency", say("Latency"), 1e-7, 0.1, "s"),
                slider("bandwidth", say("Bandwidth"), 1e6, 1e13, "B/s"),
            ],
            more=[
                Choice(
                    "batch",
                    say("This batch is"),
                    {EACH: say("for each device"), DIVIDED: say("split over all devices")},
                    str(start["batch"]),
                ),
                slider("fixed", say("Fixed time per step"), 1e-6, 10, "s"),
                Choice(
                    "allreduce",
                    say("All-reduce"),
                    {name: translation(name) for name in ALLREDUCES},
                    str(start["allreduce"]),
                ),
                slider("tensors", say("Tensors"), 1, 10_000, whole=True),
                slider("bucket", say("Bucket"), 1e5, 1e9, "B"),
            ],
            outputs={
                "t1": say("Computing (t₁)"),
                "t2": say("Communicating (t₂)"),
                "none": "t₁ + t₂",
                "buckets": say("in buckets"),
                "hidden": say("max(t₁, t₂)"),
            },
            words={
                "t1": "t₁",
                "t2": "t₂",
                "none": "t₁ + t₂",
                "buckets": say("in buckets"),
                "hidden": say("max(t₁, t₂)"),
                "devices": say("Devices"),
                "time": say("Time per step"),
                "efficiency": say("Efficiency (%)"),
            },
            data=facts(results),
        )
    ]


def facts(results: Results) -> Mapping[str, object]:
    """Return the numbers in the formulas that no control sets."""
    model, _ = models_of(results)
    return {
        "links": {HERE: {**asdict(model.link), "shared": model.shared}}
        | {i.name: {**asdict(i.link), "shared": False} for i in INTERCONNECTS},
        "allreduces": ALLREDUCES,
    }


def measured(results: Results, net: str) -> Setting:
    """Return the notes' setting of a net, with its computing time and link measured here."""
    series = results.series("step", COMPUTING, net=net)
    compute = fit_compute({m.x: m.summary.median for m in series})
    [gradients] = results.series("gradients", NOTES, net=net)
    return {
        "per_image": three_digits(compute.per_image_ms / 1e3),
        "fixed": three_digits(max(compute.fixed_ms / 1e3, LEAST_S)),
        "images": NOTES_IMAGES[net],
        "bytes": gradients.x,
        "tensors": int(gradients.columns["tensors"]),
        "link": HERE,
        "devices": results.conditions["world_size"],
        "batch": EACH,
        "allreduce": NOTES,
        "bucket": DDP_BUCKET,
    }
