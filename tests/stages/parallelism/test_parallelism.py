"""What the stage `parallelism` derives from what it counted, what its page says of it, and one
small real run.
"""

import re

import numpy as np
import pytest
import torch

from lab.core.errors import ParamsError
from lab.core.params import load
from lab.core.shared_params import DeviceParams
from lab.data import synthetic
from lab.data.datasets import Split
from lab.machine.devices import Devices
from lab.results.curves import line
from stages.parallelism import __main__ as parallelism
from stages.parallelism import section
from tests.helpers import draw, edit_params
from tests.stages.parallelism.made_up import (
    PARALLELISM,
    RATIOS,
    parallelism_curves,
    write_parallelism,
)

CPU = torch.device("cpu")


def metrics(**ratios):
    return parallelism.summarise(parallelism_curves(RATIOS | ratios), PARALLELISM)


def page(tmp_path, kind="cpu-virtual", curves=None):
    write_parallelism(tmp_path, kind, curves)
    return section.section(tmp_path / "parallelism")


def test_metrics_have_names_that_dvc_keeps():
    assert all(re.fullmatch(r"[a-z0-9_]+", name) for name in metrics())


def test_data_parallel_moves_less_from_the_crossing_on():
    m = metrics()
    assert m["pipeline_2_devices_crossing_images"] == 40, "0.05 MB an image against 2 MB"
    assert m["tensor_parallel_3_devices_crossing_images"] == 30, "0.1 MB an image against 3 MB"
    assert (m["one_device_mb"], m["data_parallel_3_devices_device_mb"]) == (24, 8)
    assert m["pipeline_of_4_micro_batches_2_devices_idle_by_flop_percent"] == 70


def test_crossing_of_a_line_that_does_not_start_at_zero():
    growing, level = line("", "", [2, 4], [5, 9]), line("", "", [2, 4], [21, 21])
    assert parallelism.crossing_batch(growing, level) == 10


def test_the_notes_order_is_decided_by_its_weakest_pair():
    m = metrics()
    assert m["ratio_notes_order_holds"] == "yes"
    assert (m["ratio_inception_over_resnet"], m["ratio_resnet_over_alexnet"]) == (1.5, 15)
    assert metrics(**{"ResNet-50": 301})["ratio_notes_order_holds"] == "no"
    assert metrics(AlexNet=150)["ratio_notes_order_holds"] == "no"


@pytest.mark.parametrize("kind", ["cpu-virtual", "cuda"])
def test_the_page(tmp_path, kind):
    part = page(tmp_path, kind)
    draw(part, tmp_path / "figures")
    assert sorted(p.stem for p in (tmp_path / "figures").iterdir()) == sorted(
        f.name for f in part.figures
    )
    text = " ".join(
        [*part.findings, *(f.caption for f in part.figures), *(t.note for t in part.tables)]
    )
    assert "nan" not in text.lower()
    assert ("virtual" in text) == (kind == "cpu-virtual")
    for table in part.tables:
        assert all(len(row) == len(table.header) for row in table.rows)
    drawn = (tmp_path / "figures" / "parallelism.svg").read_text()
    assert ("(virtual)" in drawn) == (kind == "cpu-virtual")


def test_the_page_says_what_the_numbers_say(tmp_path):
    text = " ".join(page(tmp_path).findings)
    assert "60 images (pipeline) and 30 images (tensor parallel)" in text
    assert "to 3 roundings" in text
    assert "The notes' order holds" in text


def test_a_page_of_another_order(tmp_path):
    text = " ".join(page(tmp_path, curves=parallelism_curves(RATIOS | {"AlexNet": 900})).findings)
    assert "does NOT hold" in text


def test_a_small_real_run_repeats():
    images, labels = synthetic.fashion(8, 0)
    split, devices = Split(images, labels.astype("int64")), Devices("cpu-virtual", [CPU] * 2, 1)
    small = PARALLELISM.model_copy(update={"num_devices": [2], "batch_sizes": [4, 8]})
    params = parallelism.Params(seed=0, devices=DeviceParams(cpu_threads=1), parallelism=small)
    first = parallelism.measure(params, devices, split)
    again = list(parallelism.measure_kinds(small, devices, split, 0))
    for c, d in zip(first, again, strict=False):  # the ratio is not counted again
        assert (c.demo, c.series) == (d.demo, d.series)
        assert np.array_equal(c.x, d.x), c.series
        assert np.array_equal(c.y, d.y), c.series
    m = parallelism.summarise(first, small)
    assert m["largest_difference_eps"] < 1e4
    assert m["data_parallel_2_devices_moved_mb"] == round(2 * 4 * 129_068 / 1e6, 4)
    assert m["ratio_notes_order_holds"] == "yes"
    assert m["ratio_lenet_flop_per_byte"] == pytest.approx(13.26e6 / 516_272, rel=1e-3)
    assert m["ratio_resnet_50_flop_per_byte"] == pytest.approx(
        3 * 8.18e9 / (4 * 25.557e6), rel=0.02
    )


@pytest.mark.parametrize(
    ("key", "value", "complaint"),
    [
        ("batch_sizes", [16, 16], "two growing batch_sizes, got [16, 16]"),
        ("batch_sizes", [256, 16], "two growing batch_sizes, got [256, 16]"),
        ("num_devices", [2, 5], "num_devices.1: expected less than or equal to 4, got 5"),
    ],
)
def test_params_that_cannot_be_measured_are_refused(project, key, value, complaint):
    edit_params({f"parallelism.{key}": value})
    with pytest.raises(ParamsError, match=re.escape(complaint)):
        load(parallelism.Params)
