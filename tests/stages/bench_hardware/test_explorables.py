"""The roofline in a browser, against what lab/nets/flops.py counts."""

from functools import cache
from itertools import product

import pytest
import torch

from lab.nets.flops import forward_cost
from lab.report import benchmarks
from lab.report.page import Slider
from stages.bench_hardware.measure import names
from stages.bench_hardware.measure.roofline import IMAGENET, NETS
from stages.bench_hardware.page.explorables import COSTS, MOST_IMAGES, roofline
from tests.explored import CHROMIUM, WHY_SKIPPED, check_keyboard, moved, opened
from tests.helpers import ROOT

pytestmark = pytest.mark.slow

LOG2 = 0.3010299956639812  # a factor of two, as the slider has it


@cache
def made(net):
    """A network; torchvision's without drawing weights."""
    make, shape = NETS[net]
    with torch.device("meta" if shape == IMAGENET else "cpu"):
        return make(torch.Generator().manual_seed(0)).eval()


@cache
def counted(net, images):
    """What Python counts of a forward pass."""
    return forward_cost(made(net), (images, *NETS[net][1]))


@pytest.mark.parametrize("net", NETS)
def test_costs_are_what_is_counted_for_any_number_of_images(net):
    for images in (1, 2, MOST_IMAGES):
        cost, found = COSTS[net], counted(net, images)
        assert cost.flop * images == found.flop
        assert cost.num_bytes * images + cost.fixed_bytes == found.num_bytes


@pytest.mark.skipif(CHROMIUM is None, reason=WHY_SKIPPED)
def test_every_net_under_low_and_high_roofs():
    results, m = benchmarks.read(ROOT / "reports" / "bench_hardware")
    explorable = roofline(results, m[names.PEAK_RATE], m[names.COPY_RATE])
    sliders = {each.name: each for each in explorable.controls if isinstance(each, Slider)}
    with opened("bench_hardware", explorable) as [root]:
        start, _ = moved(root, {})
        here = {"peak": 1e9 * m[names.PEAK_RATE], "bandwidth": 1e9 * m[names.COPY_RATE]}
        assert {name: start[name] for name in here} == pytest.approx(here, rel=1e-5)
        found = results.one(names.COUNTED_GFLOP, start["net"])
        assert start["batch"] == round(1e9 * found.values[0] / COSTS[start["net"]].flop)
        for net, images, peak, bandwidth in product(
            NETS, (1, MOST_IMAGES, 2), ("low", "value", "high"), ("low", "value", "high")
        ):
            wanted = {
                "net": net,
                "batch": LOG2 * (images.bit_length() - 1),
                "peak": getattr(sliders["peak"], peak),
                "bandwidth": getattr(sliders["bandwidth"], bandwidth),
            }
            at, told = moved(root, wanted)
            assert (at["net"], at["batch"]) == (net, images)
            cost = counted(net, images)
            memory = at["bandwidth"] * cost.intensity < at["peak"]  # as the section has it
            assert told.pop("bound") == ("memory" if memory else "arithmetic")
            assert told == pytest.approx(
                {
                    "flop": cost.flop,
                    "bytes": cost.num_bytes,
                    "intensity": cost.intensity,
                    "rate": min(at["peak"], at["bandwidth"] * cost.intensity),
                    "time": max(cost.flop / at["peak"], cost.num_bytes / at["bandwidth"]),
                },
                rel=1e-9,
                abs=0,
            ), at
        check_keyboard(root, "batch", "intensity")
