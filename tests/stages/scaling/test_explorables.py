"""A step of several devices in a browser, against stages/scaling/measure/predictor.py."""

from itertools import product

import pytest

from lab.parallel.allreduce.times import gradient_lengths
from lab.parallel.cost_model import INTERCONNECTS, ONE_BUCKET, step_bounds
from lab.report import benchmarks
from lab.report.page import Choice
from stages.scaling.measure import names
from stages.scaling.measure.predictor import Machine
from stages.scaling.measure.simulated_scaling import strong_scaling, weak_scaling
from stages.scaling.page.explorables import HERE, NUMBERS, machines, scaling_step
from tests.explored import CHROMIUM, WHY_SKIPPED, check_keyboard, moved, opened
from tests.helpers import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason=WHY_SKIPPED)]
LINKS = {one.name: one.link for one in INTERCONNECTS}
LOG2 = 0.3010299956639812  # a factor of two, as the sliders have it
SETTINGS = [  # powers of two of devices and images, and the overlap
    (0, 0, 0.0),
    (10, 16, 0.0),
    (10, 0, 1.0),
    (3, 9, 0.35),
]


@pytest.fixture(scope="module")
def results():
    return benchmarks.read(ROOT / "reports" / "scaling")


def by_python(at, found):
    """What the predictor says of a setting of the controls."""
    machine, network = found[at["net"]]
    if at["link"] != HERE:
        machine = Machine(machine.compute, LINKS[at["link"]])
    algorithm, grouping = names.ALLREDUCES[at["allreduce"]]
    n, own = int(at["devices"]), at["batch"] == "each"
    images = at["images"] if own else at["images"] / n
    t1, t2 = machine.parts(network, algorithm, grouping == ONE_BUCKET, n, images)
    hidden, none = step_bounds(t1, t2)
    step = at["overlap"] * hidden + (1 - at["overlap"]) * none
    alone = machine.compute.seconds(at["images"])
    if at["allreduce"] == names.RING_BUCKET and at["overlap"] == 0:  # as in the simulation
        scaling = weak_scaling if own else strong_scaling
        [gain] = scaling(machine, network, at["images"], [n])
        efficiency = 100 * (gain if own else gain / n)
    else:
        efficiency = 100 * alone / (step if own else n * step)
    return {
        "t1": t1,
        "t2": t2,
        "step": step,
        "images_per_s": n * images / step,
        "efficiency": efficiency,
    }


def test_every_link_net_and_way_to_sum(results):
    found, m = results
    n = m[names.WORLD_SIZE]
    explorable, parts = scaling_step(found, n), machines(found, n)
    choices = {c.name: list(c.options) for c in explorable.controls if isinstance(c, Choice)}
    assert choices["link"] == [HERE, *LINKS]
    with opened("scaling", explorable) as [root]:
        start, told = moved(root, {})
        assert (start["devices"], start["images"]) == (n, n * names.NOTES_IMAGES["lenet"])
        assert told == pytest.approx(by_python(start, parts), rel=1e-9)
        for values in product(*choices.values()):
            wanted = dict(zip(choices, values, strict=True))
            moved(root, wanted)
            for devices, images, overlap in SETTINGS:
                places = {"devices": LOG2 * devices, "images": LOG2 * images, "overlap": overlap}
                at, told = moved(root, places)
                counts = {"devices": 2**devices, "images": 2**images, "overlap": overlap}
                assert at == wanted | counts, "whole numbers"
                assert told == pytest.approx(by_python(at, parts), rel=1e-9, abs=0), at
        check_keyboard(root, "images", "t1")


def test_measured_steps_are_shown_where_they_were_measured(results):
    found, m = results
    with opened("scaling", scaling_step(found, m[names.WORLD_SIZE])) as [root]:
        measured = found.series(names.MEASURED, names.step("lenet", names.BY_NOTES))
        dots = root.locator("svg > circle")
        assert dots.count() == 2 + len(measured) + 1, "two rings, the dots and theirs in the key"
        moved(root, {"link": "NVLink 4"})
        assert dots.count() == 2


def test_the_gradients_are_counted(results):
    found, m = results
    for net, (_, network) in machines(found, m[names.WORLD_SIZE]).items():
        lengths = gradient_lengths(net)
        assert sum(lengths) == NUMBERS[net]
        assert network.num_bytes == 4 * sum(lengths)
        assert network.num_tensors == len(lengths)
