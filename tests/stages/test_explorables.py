"""Every explorable in a browser: its controls moved, its numbers compared with the lab's own."""

import math
import operator
from functools import cache, partial
from itertools import product

import numpy as np
import pytest
import torch

from lab.nets.flops import forward_cost
from lab.nets.models import MODELS
from lab.optim import objectives, schedules, update_rules
from lab.parallel.cost_model import INTERCONNECTS, ONE_BUCKET, allreduce_s, step_bounds
from lab.report.page import Choice, Slider
from lab.results.documents import read_results
from stages.bench_hardware.findings import findings
from stages.bench_hardware.measure.roofline import IMAGENET, NETS
from stages.bench_hardware.page.explorables import COSTS, MOST_IMAGES, roofline
from stages.optimizers.page.explorables import DRAWN, quadratic, stability
from stages.scaling.measure.params import NOTES_IMAGES
from stages.scaling.model import models_of
from stages.scaling.page.explorables import HERE, explorables, facts
from stages.schedules.measure import by_schedule
from stages.schedules.page.explorables import rate_schedule
from tests.explored import check_keyboard, moved, opened
from tests.helpers import COMMITTED

pytestmark = pytest.mark.slow

LOG2 = 0.3010299956639812  # a factor of two, as sliders have it
FINAL, EPOCHS, STEPS_PER_EPOCH = by_schedule.FINAL, by_schedule.EPOCHS, 10


def schedule_of(kind, base, warm_up):
    """As the notes' figure has it, but for the base rate and the length of the warm-up."""
    if kind == "one_cycle":
        return schedules.one_cycle(base, FINAL, EPOCHS, peak=6)
    if kind == "inverse_sqrt":
        falling = schedules.inverse_sqrt(base, max(warm_up, 1))
        return schedules.warm_up(falling, warm_up, shift=False)
    schedule = {
        "constant": schedules.constant(base),
        "square_root": schedules.square_root(base),
        "factor": schedules.factor(base, 0.9, FINAL),
        "multi_step": schedules.multi_step(base, 0.5, (10, 15)),
        "cosine": schedules.cosine(base, FINAL, EPOCHS - warm_up),
    }[kind]
    return schedules.warm_up(schedule, warm_up)


def test_schedule(browser):
    [kinds] = [c.options for c in rate_schedule().controls if c.name == "kind"]
    ways = {"step": schedules.per_step, "epoch": schedules.after_epoch}
    with opened(browser, "schedules", rate_schedule()) as [root]:
        for kind, when, (base, warm_up) in product(
            kinds, ways, ((0.3, 5), (0.3, 0), (0.02, 10), (0.5, 1))
        ):
            wanted = {"kind": kind, "when": when, "base": base, "warmup": warm_up}
            at, told = moved(root, wanted)
            assert at == wanted
            rates = ways[when](schedule_of(kind, base, warm_up), EPOCHS, STEPS_PER_EPOCH)
            assert told == pytest.approx(
                {
                    "first": rates[0],
                    "highest": max(rates),
                    "last": rates[-1],
                    "mean": sum(rates) / len(rates),
                },
                rel=1e-9,
                abs=0,
            ), wanted
        check_keyboard(root, "base", "mean")


SETTINGS = [
    {"rate": 0.4, "beta": 0.5, "steps": 20, "condition": 20, "angle": 0, "x1": -5, "x2": -2},
    {"rate": 0.6, "beta": 0.25, "steps": 20, "condition": 20, "angle": 45, "x1": 3.3, "x2": -4.7},
    {"rate": 0.01, "beta": 0, "steps": 1, "condition": 1, "angle": 90, "x1": -6, "x2": 6},
    {"rate": 2.5, "beta": 0.99, "steps": 40, "condition": 100, "angle": 17, "x1": 6, "x2": 0.1},
    {"rate": 0.05, "beta": 0.9, "steps": 100, "condition": 7, "angle": 62, "x1": 0.4, "x2": 5.9},
]
close = partial(pytest.approx, rel=1e-9, abs=0)


def rule_of(name, rate, beta):
    """An optimizer of the registry, as the controls set it."""
    rule = update_rules.RULES[name]
    return rule.make(rate, beta=beta) if rule.takes("beta") else rule.make(rate)


def growth(rule, curvature):
    """The spectral radius of a step of a linear rule, by what it does to (x, v)."""
    columns = []
    for x, v in ((1.0, 0.0), (0.0, 1.0)):
        new, state = rule.update(x, curvature * x, (v,) if rule.init(x) else ())
        columns.append([new, *(state or (0.0,))])
    return np.abs(np.linalg.eigvals(np.array(columns).T)).max()


@pytest.fixture(scope="module")
def drawn(browser):
    with opened(browser, "optimizers", quadratic(), stability()) as found:
        yield found


def test_quadratic(drawn):
    root = drawn[0]
    for name, setting in product(DRAWN, SETTINGS):
        at, told = moved(root, {"rule": name, **setting})
        assert at == {"rule": name, **setting}
        rule = rule_of(name, at["rate"], at["beta"])
        turned = {"eigenvalues": [2 / at["condition"], 2], "angle": np.radians(at["angle"])}
        gradient = partial(objectives.quadratic_gradient, **turned)
        start = np.array([at["x1"], at["x2"]])
        end = update_rules.trace(rule, gradient, start, int(at["steps"]))[-1]
        found = [told["x1"], told["x2"], told["value"]]
        assert found == close([*end, objectives.quadratic(end, **turned)]), (name, setting)
        if name in ("sgd", "momentum", "nesterov"):
            bound = at["rate"] / told["of_bound"]
            on_it = growth(rule_of(name, bound, at["beta"]), curvature=4)
            assert on_it == pytest.approx(1, rel=1e-6), "there it does not shrink any more"
        else:
            assert math.isnan(told["of_bound"])
    check_keyboard(root, "rate", "value")


def test_stability(drawn):
    root = drawn[1]
    for curvature, beta in product((0.01, 0.5, 1.3, 2.4, 3.9, 4.5), (0, 0.07, 0.5, 0.9, 1)):
        at, told = moved(root, {"curvature": curvature, "beta": beta})
        assert at == {"curvature": curvature, "beta": beta}
        rule = update_rules.momentum(1.0, beta)
        path = update_rules.trace(rule, partial(operator.mul, curvature), 1.0, 40)
        assert told["last"] == close(path[-1]), at
        factor = growth(rule, curvature)
        assert told["growth"] == close(factor), at
        fate = "stays" if abs(factor - 1) < 1e-9 else "grows" if factor > 1 else "shrinks"
        assert told["fate"] == fate, at
    check_keyboard(root, "curvature", "last")


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


def test_roofline(browser):
    results = read_results(COMMITTED / "reports" / "bench_hardware")
    numbers = findings(results)
    peak, copies = (numbers[name].value for name in ("peak_float32_gflop_per_s", "copy_gb_per_s"))
    explorable = roofline(results, peak, copies)
    sliders = {each.name: each for each in explorable.controls if isinstance(each, Slider)}
    with opened(browser, "bench_hardware", explorable) as [root]:
        start, _ = moved(root, {})
        here = {"peak": 1e9 * peak, "bandwidth": 1e9 * copies}
        assert {name: start[name] for name in here} == pytest.approx(here, rel=1e-5)
        found = results.one("counted GFLOP", start["net"])
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


LINKS = {one.name: one.link for one in INTERCONNECTS}
PLACES = [  # powers of two of devices and images, and the overlap
    (0, 0, 0.0),
    (10, 16, 1.0),
    (3, 9, 0.35),
]


def predicted(at, facts, here):
    """What the cost model says of a setting of the controls."""
    net = facts["nets"][at["net"]]
    link, shared = (here.link, here.shared) if at["link"] == HERE else (LINKS[at["link"]], False)
    algorithm, grouping = at["allreduce"].split(", ")
    n, own = int(at["devices"]), at["batch"] == "each"
    images = at["images"] if own else at["images"] / n
    t1 = net["fixed_s"] + net["per_image_s"] * images
    tensors = 1 if grouping == ONE_BUCKET else net["tensors"]
    t2 = allreduce_s(algorithm, n, tensors, net["bytes"], link, shared)
    hidden, none = step_bounds(t1, t2)
    step = at["overlap"] * hidden + (1 - at["overlap"]) * none
    alone = net["fixed_s"] + net["per_image_s"] * at["images"]
    return {
        "t1": t1,
        "t2": t2,
        "step": step,
        "images_per_s": n * images / step,
        "efficiency": 100 * alone / (step if own else n * step),
    }


def test_step_of_several_devices(browser):
    found = read_results(COMMITTED / "reports" / "scaling")
    n, (here, _), given = found.conditions["world_size"], models_of(found), facts(found)
    for net, known in given["nets"].items():
        params = list(MODELS[net](torch.Generator()).parameters())
        assert (known["tensors"], known["bytes"]) == (len(params), sum(p.nbytes for p in params))
    [explorable] = explorables(found, {})
    choices = {c.name: list(c.options) for c in explorable.controls if isinstance(c, Choice)}
    assert choices["link"] == [HERE, *LINKS]
    with opened(browser, "scaling", explorable) as [root]:
        start, told = moved(root, {})
        assert (start["devices"], start["images"]) == (n, n * NOTES_IMAGES["lenet"])
        assert told == pytest.approx(predicted(start, given, here), rel=1e-9)
        for values in product(*choices.values()):
            wanted = dict(zip(choices, values, strict=True))
            moved(root, wanted)
            for devices, images, overlap in PLACES:
                places = {"devices": LOG2 * devices, "images": LOG2 * images, "overlap": overlap}
                at, told = moved(root, places)
                counts = {"devices": 2**devices, "images": 2**images, "overlap": overlap}
                assert at == wanted | counts, "whole numbers"
                assert told == pytest.approx(predicted(at, given, here), rel=1e-9, abs=0), at
        check_keyboard(root, "images", "t1")
