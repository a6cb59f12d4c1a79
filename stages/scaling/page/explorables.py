"""What the page lets a reader play with: a step on other links, devices and batches.

`scaling_step.js` computes with the formulas of `stages.scaling.measure.step_model` and of
`lab.parallel.cost_model`; a test compares them.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from lab.parallel.cost_model import INTERCONNECTS, ONE_BUCKET, PER_TENSOR, STAR, allreduce_name
from lab.report.benchmarks import TITLES
from lab.report.language import say, translation
from lab.report.page import Choice, Explorable, Slider
from lab.results.documents import read_results
from lab.results.measurements import Results
from stages.scaling.measure.predictions import ALLREDUCES, NOTES_IMAGES, compared_steps
from stages.scaling.measure.step_model import Machine, Network, fit_machines

HERE = "here"  # this machine's link, beside INTERCONNECTS by their names
NUMBERS = {"lenet": 129_068, "resnet18": 11_175_818}  # in a net's gradients; a test counts them
MOST_DEVICES, MOST_IMAGES = 2**10, 2**16
ALLREDUCE_NAMES = [allreduce_name(*way) for way in ALLREDUCES]


def explorables(folder: Path) -> list[Explorable]:
    """What can be played with on the page of `folder` (reports/scaling)."""
    results = read_results(folder)
    return [scaling_step(results, results.conditions["world_size"])]


def scaling_step(results: Results, n: int) -> Explorable:
    """A step's time and efficiency against devices, from the steps of `n` devices measured here."""
    links = {HERE: say("this machine")} | {i.name: translation(i.name) for i in INTERCONNECTS}
    images = n * NOTES_IMAGES["lenet"]
    return Explorable(
        name="scaling_step",
        controls=[
            Choice("net", say("Network"), TITLES, "lenet"),
            Choice("link", say("Link"), links, HERE),
            Choice(
                "allreduce",
                say("All-reduce"),
                {name: translation(name) for name in ALLREDUCE_NAMES},
                allreduce_name(STAR, PER_TENSOR),
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
        data=_facts(results, n),
    )


def machines(results: Results, n: int) -> dict[str, tuple[Machine, Network]]:
    """Each net's machine and gradients, as the rows have them: `fit_machines` without torch."""
    gradients = {}
    for net in results.variants("joining"):
        tensors = int(results.series("joining", net)[0].x)
        # how the numbers are shared out among the tensors changes nothing
        gradients[net] = [0] * (tensors - 1) + [NUMBERS[net]]
    return fit_machines(results, n, gradients)


def _power_of_two(name: str, label: str, most: int, value: int) -> Slider:
    return Slider.by_factors(name, label, 1, most, 2 ** round(math.log2(value)), 2)


def _facts(results: Results, n: int) -> Mapping[str, object]:
    """The numbers of the formulas, and the measured steps."""
    found = machines(results, n)
    here, _ = found["lenet"]
    return {
        "nets": {
            net: {
                **asdict(machine.compute),
                "tensors": network.num_tensors,
                "bytes": network.num_bytes,
                "joining_s": network.joining_s,
            }
            for net, (machine, network) in found.items()
        },
        "links": {HERE: {**asdict(here.link), "shared": here.shared, "waits": here.waits}}
        | {i.name: {**asdict(i.link), "shared": False, "waits": {}} for i in INTERCONNECTS},
        "allreduces": {
            allreduce_name(algorithm, grouping): (algorithm, grouping == ONE_BUCKET)
            for algorithm, grouping in ALLREDUCES
        },
        "measured": [
            {
                "net": step.net,
                "allreduce": step.allreduce,
                "devices": n,
                "images": step.measured.x,
                "seconds": step.measured.summary.median / 1e3,
            }
            for step in compared_steps(results)
        ],
    }
