"""The page's explorable: a network under the roofline of any device.

`roofline.js` counts what `lab.nets.flops` counts, for any number of images; a test compares them.
"""

import math
from typing import NamedTuple

from lab.report.language import say
from lab.report.page import Choice, Explorable, Slider, three_digits
from lab.results.findings import Findings
from lab.results.measurements import Results

MOST_IMAGES = 2**12


class Cost(NamedTuple):
    """The cost of a forward pass: FLOP and bytes per image, plus fixed bytes (weights)."""

    flop: int
    num_bytes: int
    fixed_bytes: int


# from `forward_cost` in lab.nets.flops, which needs torch; a test counts again
COSTS = {
    "LeNet": Cost(4_500_720, 320_888, 516_272),
    "ResNet-18 (28 x 28)": Cost(911_601_664, 13_266_024, 44_765_736),
    "AlexNet": Cost(1_428_376_960, 9_983_904, 244_403_360),
    "GoogLeNet (Inception)": Cost(2_996_752_384, 121_783_072, 26_616_096),
}


def explorables(results: Results, found: Findings) -> list[Explorable]:
    roof = (found[name].value for name in ("peak_float32_gflop_per_s", "copy_gb_per_s"))
    return [roofline(results, *(three_digits(1e9 * each) for each in roof))]


def roofline(results: Results, peak: float, bandwidth: float) -> Explorable:
    """Make the explorable, with this machine's peak (FLOP/s) and bandwidth (B/s) at first."""
    return Explorable(
        name="roofline",
        controls=[
            Choice("net", say("network"), {net: net for net in COSTS}, "AlexNet"),
            Slider.by_factors("batch", say("images"), 1, MOST_IMAGES, _images(results), 2),
            Slider.over_decades("peak", say("peak rate"), 1e9, 1e16, peak, "FLOP/s"),
            Slider.over_decades("bandwidth", say("bandwidth"), 1e9, 1e14, bandwidth, "B/s"),
        ],
        outputs={
            "flop": say("computes"),
            "bytes": say("moves"),
            "intensity": say("FLOP per byte"),
            "bound": say("limited by"),
            "rate": say("at most"),
            "time": say("takes at least"),
        },
        words={
            "memory": say("memory"),
            "arithmetic": say("arithmetic"),
            "intensity": say("FLOP per byte"),
            "rate": say("FLOP/s (dots: measured here)"),
            "reach": say("1 to {most} images", most=MOST_IMAGES),
        },
        data={
            "most": MOST_IMAGES,
            "order": list(COSTS),  # as the figure has their colours
            "nets": {net: cost._asdict() for net, cost in COSTS.items()},
            "measured": [
                {"net": net, "intensity": m.x, "flop_per_s": 1e9 * m.summary.median}
                for net in COSTS
                if (m := results.one("network", net))
            ],
        },
    )


def _images(results: Results) -> int:
    """Return the power of two nearest to the images of the measured passes."""
    counted = results.one("counted GFLOP", "LeNet")
    images = 1e9 * counted.values[0] / COSTS["LeNet"].flop if counted else 1
    return int(2 ** max(0, round(math.log2(images))))
