"""The all-reduce in a browser, against lab/parallel/cost_model.py."""

from itertools import product

import pytest

from lab.parallel.cost_model import MODELLED, RING, Link, allreduce_path, allreduce_s, bytes_sent
from lab.report import benchmarks
from lab.report.page import Slider
from stages.bench_collectives.measure import names
from stages.bench_collectives.measure.predicted_times import model_of
from stages.bench_collectives.page.explorables import allreduce
from tests.explored import CHROMIUM, WHY_SKIPPED, check_keyboard, moved, opened
from tests.helpers import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason=WHY_SKIPPED)]


@pytest.fixture(scope="module")
def model():
    return model_of(benchmarks.read(ROOT / "reports" / "bench_collectives")[0])


def test_every_algorithm_over_any_link(model):
    explorable = allreduce(model)
    sliders = {each.name: each for each in explorable.controls if isinstance(each, Slider)}
    with opened("bench_collectives", explorable) as [root]:
        for (tensors, end), algorithm, link, ranks in product(
            ((1, "low"), (200, "high"), (76, "value")),
            MODELLED,
            (names.OWN, names.SHARED),
            (2, 64, 3, 63),
        ):
            wanted = {"algorithm": algorithm, "link": link, "ranks": ranks, "tensors": tensors}
            ends = {n: getattr(sliders[n], end) for n in ("bytes", "latency", "bandwidth")}
            at, told = moved(root, wanted if ranks > 2 else wanted | ends)  # the others stay
            assert {name: at[name] for name in wanted} == wanted
            reached = {name: at[name] for name in ends}
            assert reached == pytest.approx({n: 10**v for n, v in ends.items()}, rel=1e-3)
            over = Link(at["latency"], 1 / at["bandwidth"], model.fit.link.add_s_per_byte)
            case = algorithm, ranks, tensors, at["bytes"]
            shared = link == names.SHARED
            time, messages = (
                allreduce_s(*case, over, shared),
                allreduce_path(*case, shared).messages,
            )
            assert told == pytest.approx(
                {
                    "time": time,
                    "messages": messages,
                    "sent": bytes_sent(algorithm, ranks, at["bytes"]),
                    "latency_share": 100 * messages * at["latency"] / time,
                },
                rel=1e-9,
                abs=0,
            ), at
        check_keyboard(root, "ranks", "time")


def test_it_starts_from_this_machine_shows_what_was_measured_and_can_be_dragged(model):
    with opened("bench_collectives", allreduce(model)) as [root]:
        start, told = moved(root, {})
        fitted = model.seconds(RING, model.few, 1, start["bytes"])
        assert told["time"] == pytest.approx(fitted, rel=1e-4)
        box = root.locator("svg").bounding_box()
        root.page.mouse.click(box["x"] + 0.3 * box["width"], box["y"] + 0.5 * box["height"])
        dragged, _ = moved(root, {})
        assert dragged["bytes"] < start["bytes"]
        assert {**dragged, "bytes": 0} == {**start, "bytes": 0}, "along the bytes alone"
        dots = root.locator("svg > circle")
        counts = []
        for place in ({"tensors": 1}, {"tensors": 8}, {"tensors": 9}, {"tensors": 1, "ranks": 64}):
            moved(root, place)
            counts.append(dots.count())
        assert counts[0] > counts[1] > counts[2] == counts[3] == 1, "the ring alone"
