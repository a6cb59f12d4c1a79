"""Every explorable in a browser: move its controls, compare its numbers with the lab's own."""

import math
import operator
from functools import cache, partial
from importlib import import_module
from itertools import pairwise, product

import numpy as np
import pytest
import torch

from lab.machine.torchvision_import import torchvision
from lab.nets.flops import forward_cost
from lab.nets.models import MODELS
from lab.optim import objectives, schedules, update_rules
from lab.parallel.cost_model import INTERCONNECTS, ONE_BUCKET, Link, allreduce_s, step_bounds
from lab.report.benchmarks import TITLES
from lab.report.numbers import number
from lab.report.page import Choice, Slider
from lab.results.documents import read_results
from stages.bench_hardware.findings import findings
from stages.bench_hardware.measure.roofline import IMAGENET, NETS
from stages.bench_hardware.page.explorables import COSTS, MOST_IMAGES
from stages.optimizers.page.explorables import DRAWN, NONE, quadratic, stability
from stages.scaling.measure.names import NOTES_IMAGES
from stages.scaling.model import models_of
from stages.scaling.page.explorables import HERE, OWN, explorables
from stages.schedules.measure import by_schedule
from stages.schedules.page.explorables import rate_schedule
from tests.explored import moved, opened, page_of
from tests.helpers import COMMITTED

pytestmark = pytest.mark.slow

LOG2 = 0.3010299956639812  # a factor of two on a logarithmic slider
FINAL, EPOCHS, STEPS_PER_EPOCH = by_schedule.FINAL, by_schedule.EPOCHS, 10


def schedule_of(kind, base, warm_up):
    """Return a schedule of the notes' figure with this base rate and length of warm-up."""
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


SETTINGS = [
    {"rate": 0.4, "beta": 0.5, "steps": 20, "condition": 20, "angle": 0, "x1": -5, "x2": -2},
    {"rate": 0.6, "beta": 0.25, "steps": 20, "condition": 20, "angle": 45, "x1": 3.3, "x2": -4.7},
    {"rate": 0.01, "beta": 0, "steps": 1, "condition": 1, "angle": 90, "x1": -6, "x2": 6},
    {"rate": 2.5, "beta": 0.99, "steps": 40, "condition": 100, "angle": 17, "x1": 6, "x2": 0.1},
    {"rate": 0.05, "beta": 0.9, "steps": 100, "condition": 7, "angle": 62, "x1": 0.4, "x2": 5.9},
]
close = partial(pytest.approx, rel=1e-9, abs=0)


def rule_of(name, rate, beta):
    """Return a registered optimizer with the settings of the controls."""
    rule = update_rules.RULES[name]
    return rule.make(rate, beta=beta) if rule.takes("beta") else rule.make(rate)


def growth(rule, curvature):
    """Return the spectral radius of a linear rule's step on (x, v)."""
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
    for (name, other), setting in product(pairwise((*DRAWN, NONE)), SETTINGS):
        wanted = {"rule": name, "rule2": other, "rate2": 0.3, **setting}
        places = {each: math.log10(wanted[each]) for each in ("rate", "rate2")}
        at, told = moved(root, wanted | places)
        assert at == wanted
        turned = {"eigenvalues": [2 / at["condition"], 2], "angle": np.radians(at["angle"])}
        gradient = partial(objectives.quadratic_gradient, **turned)
        start = np.array([at["x1"], at["x2"]])
        for which, rate, end in ((name, at["rate"], ""), (other, at["rate2"], "2")):
            bound, value = told["of_bound" + end], told["value" + end]
            shown = root.locator(f"output[data-out=of_bound{end}]").is_visible()
            assert shown == (which in ("sgd", "momentum", "nesterov"))
            if shown:
                on_it = growth(rule_of(which, rate / bound, at["beta"]), curvature=4)
                assert on_it == pytest.approx(1, rel=1e-6), "there it does not shrink any more"
            if which == NONE:
                assert math.isnan(value)
            else:
                rule = rule_of(which, rate, at["beta"])
                last = update_rules.trace(rule, gradient, start, int(at["steps"]))[-1]
                assert value == close(objectives.quadratic(last, **turned)), (which, setting)


def test_the_quadratic_starts_with_what_the_page_says(browser):
    """AdaGrad (the second optimizer) wins along the axes, and loses after the rotation."""
    with opened(browser, "optimizers", quadratic()) as [root]:
        _, told = moved(root, {})
        assert told["value"] < told["value2"]
        root.get_by_role("button", name="45°").click()
        _, told = moved(root, {})
        assert told["value"] > told["value2"]


def test_dragging_in_the_picture_moves_the_starting_point(browser):
    with opened(browser, "optimizers", quadratic()) as [root]:
        box, mouse = root.locator("svg").bounding_box(), root.page.mouse
        x, y = (
            box["x"] + box["width"] / 4,
            box["y"] + box["height"] / 2,
        )  # in the plane, on the left
        mouse.move(x, y)
        mouse.down()
        before, _ = moved(root, {})
        mouse.move(x + 20, y)
        mouse.up()
        after, _ = moved(root, {})
    assert after["x1"] > before["x1"]
    assert after == before | {"x1": after["x1"], "x2": pytest.approx(before["x2"])}


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


@cache
def made(net):
    """Return a network; torchvision's on the meta device, without drawing weights."""
    make, shape = NETS[net]
    with torch.device("meta" if shape == IMAGENET else "cpu"):
        return make(torch.Generator().manual_seed(0)).eval()


@cache
def counted(net, images):
    """Return a forward pass's cost, counted in Python."""
    return forward_cost(made(net), (images, *NETS[net][1]))


def explored(stage):
    """Return a page's first explorable, made from the committed results."""
    page = import_module(f"stages.{stage}.page.explorables")
    results = read_results(COMMITTED / "reports" / stage)
    found = findings(results) if stage == "bench_hardware" else {}
    return page.explorables(results, found)[0]


def test_roofline(browser):
    results = read_results(COMMITTED / "reports" / "bench_hardware")
    explorable = explored("bench_hardware")
    sliders = {each.name: each for each in explorable.controls if isinstance(each, Slider)}
    with opened(browser, "bench_hardware", explorable) as [root]:
        start, _ = moved(root, {})
        names = {"peak": "peak_float32_gflop_per_s", "bandwidth": "copy_gb_per_s"}
        here = {name: 1e9 * findings(results)[each].value for name, each in names.items()}
        assert {name: start[name] for name in here} == pytest.approx(here, rel=5e-3)
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
            memory = at["bandwidth"] * cost.intensity < at["peak"]  # the section's definition
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


LINKS = {one.name: one.link for one in INTERCONNECTS}


def in_buckets(t1, count, each):
    """Return the time at which a step ends if its buckets are summed sequentially."""
    free = 0.0
    for bucket in range(1, count + 1):
        ready = t1 / 3 + 2 / 3 * t1 * bucket / count
        free = max(free, ready) + each
    return free


def predicted(at, here):
    """Return what the cost model predicts for a setting of the controls."""
    links = {HERE: here.link, OWN: Link(at["latency"], 1 / at["bandwidth"]), **LINKS}
    link, shared = links[at["link"]], at["link"] == HERE and here.shared
    algorithm, grouping = at["allreduce"].split(", ")
    n, divided = int(at["devices"]), at["batch"] == "divided"
    t1 = at["fixed"] + at["per_image"] * (at["images"] / n if divided else at["images"])
    summed = partial(allreduce_s, algorithm, n, link=link, shared=shared)
    one_bucket = grouping == ONE_BUCKET
    count = math.ceil(at["bytes"] / at["bucket"]) if one_bucket else int(at["tensors"])
    t2 = summed(1 if one_bucket else count, at["bytes"])
    hidden, none = step_bounds(t1, t2)
    buckets = in_buckets(t1, count, summed(1, at["bytes"] / count))
    return {"t1": t1, "t2": t2, "none": none, "buckets": buckets, "hidden": hidden}


def test_step_of_several_devices(browser):
    found = read_results(COMMITTED / "reports" / "scaling")
    here, _ = models_of(found)
    [explorable] = explorables(found, {})
    controls = [*explorable.controls, *explorable.more]
    sliders = [each for each in controls if isinstance(each, Slider)]
    choices = {c.name: list(c.options) for c in controls if isinstance(c, Choice)}
    assert choices["link"] == [HERE, *LINKS, OWN]
    drawn = np.random.default_rng(0)
    with opened(browser, "scaling", explorable) as [root]:
        for values in product(*choices.values()):
            wanted = dict(zip(choices, values, strict=True))
            at, told = moved(root, wanted | {s.name: drawn.uniform(s.low, s.high) for s in sliders})
            assert {name: at[name] for name in choices} == wanted
            assert (at["devices"], at["images"]) == (round(at["devices"]), round(at["images"]))
            assert told == pytest.approx(predicted(at, here), rel=1e-9, abs=0), at
            assert told["buckets"] >= told["hidden"] * (1 - 1e-9), "no overlap beats all of it"
        at, told = moved(root, {"devices": 0})
        assert (at["devices"], told["t2"]) == (1, 0)
        assert told["none"] == told["buckets"] == told["hidden"] == told["t1"]


def near(found, wanted):
    """Return whether the controls have the wanted values."""
    return found | wanted == found


def test_presets_match_their_names(browser):
    found = read_results(COMMITTED / "reports" / "scaling")
    [explorable] = explorables(found, {})
    nets = {TITLES[net]: MODELS[net](torch.Generator()) for net in NOTES_IMAGES}
    with torch.device("meta"):
        nets["ResNet-50"] = torchvision.models.resnet50()
    with opened(browser, "scaling", explorable) as [root]:
        assert root.locator("[aria-pressed=true]").all_inner_texts() == ["ResNet-50, 8 × H100"]
        for name, values in explorable.presets.items():
            root.get_by_role("button", name=name).click()
            at, _ = moved(root, {})
            assert near(at, values)
            assert root.locator("[aria-pressed=true]").all_inner_texts() == [name]
            params = list(nets[name.split(",")[0]].parameters())
            assert at["tensors"] == len(params)
            assert at["bytes"] == pytest.approx(sum(p.nbytes for p in params), rel=1e-3)


# field, text typed into it, control, its new number, text then shown; each row follows the last
TAKEN = {
    "bench_hardware": [
        ("peak rate", "990 TFLOP/s", "peak", 990e12, "990 TFLOP/s"),
        ("peak rate", "67", "peak", 67e12, "67 TFLOP/s"),  # in the unit shown before
        ("peak rate", "19.5 T", "peak", 19.5e12, "19.5 TFLOP/s"),
        ("peak rate", "1e9", "peak", 1e9, "1 GFLOP/s"),
        ("peak rate", "1.979 PFLOPS", "peak", 1.979e15, "1.979 PFLOP/s"),
    ],
    "scaling": [
        ("Time per image", "1.25 ms", "per_image", 1.25e-3, "1.25 ms"),
        ("Time per image", "3", "per_image", 3e-3, "3 ms"),
        ("Time per image", "250 us", "per_image", 250e-6, "250 µs"),
        ("Time per image", "123.4567 µs", "per_image", 123.4567e-6, "123.4567 µs"),
        ("Time per image", "12 s", "per_image", 12, "12 s"),
        ("Gradients", "1.6 GB", "bytes", 1.6e9, "1.6 GB"),
        ("Gradients", "25 MiB", "bytes", 25 * 2**20, "26.2144 MB"),
        ("Gradients", "1e9", "bytes", 1e9, "1 GB"),
        ("Gradients", "4 Mb", "bytes", 0.5e6, "500 kB"),
        ("Gradients", "7B", "bytes", 7, "7 B"),
        ("Gradients", "7 b", "bytes", 0.875, "0.875 B"),
        ("Devices", "1,000", "devices", 1000, "1,000"),
        ("Devices", "2×10⁶", "devices", 2e6, "2×10⁶"),  # beyond the slider's end
        ("Bandwidth", "400 Gb/s", "bandwidth", 50e9, "50 GB/s"),
        ("Bandwidth", "400 GB/s", "bandwidth", 400e9, "400 GB/s"),
        ("Bandwidth", "100 Gbit/s", "bandwidth", 12.5e9, "12.5 GB/s"),
        ("Bandwidth", "25 Gbps", "bandwidth", 3.125e9, "3.125 GB/s"),
    ],
    "optimizers": [
        ("its learning rate", "3e-5", "rate", 3e-5, "3×10⁻⁵"),
        ("steps", "250", "steps", 250, "250"),
        ("start x₁", "−3.25", "x1", -3.25, "−3.25"),
    ],
    "schedules": [("base rate", "0.0123", "base", 0.0123, "0.0123")],
}
REFUSED = {
    "bench_hardware": [
        ("peak rate", "5 GB/s", "another kind"),
        ("peak rate", "990 tflop/s", "tera is T"),
    ],
    "scaling": [
        ("Gradients", "100 mb", "thousandths of a bit"),
        ("Gradients", "5 ms", "another kind"),
        ("Gradients", "1,5 GB", "a comma that separates no thousands"),
        ("Gradients", "16 MB or so", "words behind"),
        ("Gradients", "about 16 MB", "words before"),
        ("Gradients", "", "nothing typed"),
        ("Gradients", "MB", "no number"),
        ("Gradients", "1e999", "no number that there is"),
        ("Time per image", "5 Ms", "a slip for ms"),
        ("Bandwidth", "400 Gb", "no rate"),
        ("Bandwidth", "−400 GB/s", "less than nothing"),
        ("Devices", "0", "none"),
        ("Devices", "2.5", "a fraction"),
        ("Devices", "8 B", "a unit where there is none"),
    ],
    "optimizers": [("steps", "1e9", "more than can be drawn"), ("momentum β", "1.5", "no average")],
    "schedules": [
        ("base rate", "0.001", "below the rate at the end"),
        ("epochs of warm-up", "20", "nothing left"),
    ],
}
WIDTH = 400  # a phone's


@pytest.fixture
def root(browser, tmp_path, stage):
    """Yield an explorable at its own address, with all controls visible."""
    file = tmp_path / "page.html"
    file.write_text(page_of(stage, explored(stage)), encoding="utf-8")
    page = browser.new_page(viewport={"width": WIDTH, "height": 900})
    page.goto(file.as_uri())
    found = page.locator(".explorable")
    if stage == "scaling":
        found.get_by_label("Link").select_option(OWN)
    if stage == "optimizers":
        found.get_by_label("first optimizer").select_option("momentum")
    unfold(page)
    yield found
    page.close()


def unfold(page):
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")


def typed(root, label, text, key="Enter"):
    """Type text into a field, press a key, and return the field."""
    field = root.get_by_role("textbox", name=label).first
    field.fill(text)
    field.press(key)
    return field


def border(field):
    return field.evaluate("each => getComputedStyle(each).border")


@pytest.mark.parametrize("stage", TAKEN)
def test_a_typed_number_is_kept_exactly_even_after_a_reload(root, stage):
    page, plain = root.page, border(root.get_by_role("textbox").first)
    for i, (label, text, name, value, shown) in enumerate(TAKEN[stage]):
        field = typed(root, label, text, ("Enter", "Tab")[i % 2])
        at, told = moved(root, {})
        assert at[name] == value, text
        assert field.input_value() == shown
        assert border(field) == plain
        address = page.url
        page.reload()
        unfold(page)
        assert field.input_value() == shown, "after a reload"
        assert moved(root, {}) == (at, pytest.approx(told, nan_ok=True))
        assert page.url == address
        assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH


@pytest.mark.parametrize("stage", TAKEN)
def test_invalid_input_is_refused_visibly(root, stage):
    page = root.page
    for i, (label, text, why) in enumerate(REFUSED[stage]):
        field = root.get_by_role("textbox", name=label).first
        before, plain, stood = moved(root, {}), border(field), field.input_value()
        typed(root, label, text, ("Enter", "Tab")[i % 2])
        assert str(moved(root, {})) == str(before), f"{text}: {why}"
        assert field.get_attribute("aria-invalid") == "true", f"{text}: {why}"
        assert field.input_value() == text, "to be mended"
        assert "2px" in border(field) != plain
        message = root.locator(f"#{field.get_attribute('aria-describedby')}")
        assert message.inner_text().replace("\xa0", " ") == f"✗ not taken, still {stood}"
        field.focus()
        outline = field.evaluate("each => getComputedStyle(each).outlineColor")
        assert outline in border(field), "also around a field that has the focus"
        assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH
        typed(root, label, stood)
        assert field.get_attribute("aria-invalid") is None
        assert (border(field), message.inner_text()) == (plain, "")
        assert str(moved(root, {})) == str(before)


def test_a_typed_number_stays_until_its_slider_moves_or_a_preset_is_chosen(browser):
    explorable = explored("scaling")
    [devices] = [each for each in explorable.controls if each.name == "devices"]
    with opened(browser, "scaling", explorable) as [root]:
        slider = root.locator("[name=devices]")
        field = typed(root, "Devices", "50,000")
        assert float(slider.input_value()) == devices.high, "the thumb is at the end"
        root.locator("[name=images]").press("ArrowLeft")
        assert moved(root, {})[0]["devices"] == 50_000
        slider.press("ArrowLeft")
        left = moved(root, {})[0]["devices"]
        assert left < 10_000
        assert field.input_value() == f"{left:,.0f}"
        for text in ("50,000", "none"):
            typed(root, "Devices", text)
            root.get_by_role("button", name="ResNet-50, 8 × H100").click()
            assert moved(root, {})[0]["devices"] == 8
            assert (field.input_value(), field.get_attribute("aria-invalid")) == ("8", None)


def test_an_address_restores_the_numbers(browser, tmp_path):
    """Unknown options and invalid numbers in an address are ignored."""
    [explorable] = explorables(read_results(COMMITTED / "reports" / "scaling"), {})
    file = tmp_path / "page.html"
    file.write_text(page_of("scaling", explorable), encoding="utf-8")
    page = browser.new_page()
    page.goto(file.as_uri())
    root, length = page.locator(".explorable"), page.evaluate("history.length")
    page.get_by_role("button", name="laptops").click()
    page.locator("[name=devices]").press("ArrowRight")
    chosen, told = moved(root, {})
    sent = page.url
    assert sent.startswith(f"{file.as_uri()}#explore-scaling_step?")
    assert page.evaluate("history.length") == length, "no step of the way back"

    other = browser.new_page()
    other.goto(sent)
    at, again = moved(other.locator(".explorable"), {})
    assert near(at, chosen)
    assert again == told
    nonsense = (
        "link=sneakers&bytes=many&latency=-1&bandwidth=&images=1.5&per_image=1px&fixed=NaN&x=1"
    )
    other.goto(f"{file.as_uri()}#explore-scaling_step?{nonsense}&devices=16")
    at, _ = moved(other.locator(".explorable"), {})
    assert near(at, chosen | {"devices": 16})
    for each in (page, other):
        each.close()


def test_numbers_are_written_as_the_pages_write_them(browser):
    drawn = np.random.default_rng(0)
    values = [*(10 ** drawn.uniform(-14, 14, 500) * drawn.choice([-1, 1], 500)).tolist()]
    values += [26.74, 84.45, 0.585, 0.995, 996_000.5, 1e-4 - 1e-9, 0, 7, -12_300, math.inf]
    with opened(browser, "optimizers", quadratic()) as [root]:
        told = root.page.evaluate("values => values.map(each => number(each))", values)
        small = root.page.evaluate("[number(-1.43e-162), number(NaN), withUnit(0.02674, 's')]")
    assert told == [number(each) for each in values]
    assert small == ["0", "–", "27 ms"]
