"""What `parallelism` derives and its page says, from made-up counts; and one small real run."""

import re

import numpy as np
import pytest
import torch

from lab.core.errors import ParamsError
from lab.core.params import load
from lab.core.shared_params import BenchParams, DeviceParams
from lab.data import synthetic
from lab.data.datasets import Split
from lab.machine.devices import Devices
from lab.results.curves import line
from stages.parallelism import __main__ as parallelism
from stages.parallelism.measure.names import (
    ALEXNET,
    DATA,
    FLOP_PER_BYTE,
    INCEPTION_OVER_RESNET,
    LARGEST_DIFFERENCE_EPS,
    LENET,
    MOVED_MB,
    PIPELINE,
    PIPELINE_IDLE,
    PIPELINE_IDLE_BY_FLOP,
    RESNET_50,
    RESNET_OVER_ALEXNET,
    TENSOR,
    crossing_images,
    on_devices,
)
from stages.parallelism.page import section
from tests.helpers import edit_params
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


def test_data_parallel_moves_less_from_the_crossing_on():
    m = metrics()
    assert m[crossing_images(on_devices(PIPELINE, 2))] == 40, "0.05 MB an image against 2 MB"
    assert m[crossing_images(on_devices(TENSOR, 3))] == 30, "0.1 MB an image against 3 MB"
    assert (m[PIPELINE_IDLE], m[PIPELINE_IDLE_BY_FLOP]) == (40, 70)


def test_crossing_of_a_line_that_does_not_start_at_zero():
    growing, level = line("", "", [2, 4], [5, 9]), line("", "", [2, 4], [21, 21])
    assert parallelism.crossing_batch(growing, level) == 10


def test_the_notes_order_is_decided_by_its_weakest_pair():
    m = metrics()
    assert (m[INCEPTION_OVER_RESNET], m[RESNET_OVER_ALEXNET]) == (1.5, 15)
    assert metrics(**{RESNET_50: 301})[INCEPTION_OVER_RESNET] < 1
    assert metrics(**{ALEXNET: 150})[RESNET_OVER_ALEXNET] == 1


def test_a_small_real_run_repeats(one_thread):
    images, labels = synthetic.fashion(8, 0)
    split, devices = Split(images, labels.astype("int64")), Devices("cpu-virtual", [CPU] * 2, 1)
    small = PARALLELISM.model_copy(update={"num_devices": [2], "batch_sizes": [4, 8]})
    params = parallelism.Params(
        seed=0,
        devices=DeviceParams(cpu_threads=1),
        bench=BenchParams(starts=1, rounds=1, min_sample_ms=1),
        parallelism=small,
    )
    first = parallelism.measure(params, devices, split)
    again = list(parallelism.measure_kinds(small, devices, split, 0))
    for c, d in zip(first, again, strict=False):  # the ratio is not counted again
        assert (c.demo, c.series) == (d.demo, d.series)
        assert np.array_equal(c.x, d.x), c.series
        assert np.array_equal(c.y, d.y), c.series
    y = {(c.demo, c.series): c.y for c in first}
    assert y[MOVED_MB, on_devices(DATA, 2)][-1] == 2 * 4 * 129_068 / 1e6
    assert y[FLOP_PER_BYTE, LENET][0] == pytest.approx(13.26e6 / 516_272, rel=1e-3)
    assert y[FLOP_PER_BYTE, RESNET_50][0] == pytest.approx(3 * 8.18e9 / (4 * 25.557e6), rel=0.02)
    m = parallelism.summarise(first, small)
    assert m[LARGEST_DIFFERENCE_EPS] < 1e4
    assert min(m[INCEPTION_OVER_RESNET], m[RESNET_OVER_ALEXNET]) > 1


def test_params_that_cannot_be_measured_are_refused(project):
    bad = [
        ("batch_sizes", [16, 16], "two growing batch_sizes, got [16, 16]"),
        ("batch_sizes", [256, 16], "two growing batch_sizes, got [256, 16]"),
        ("num_devices", [2, 5], "num_devices.1: expected less than or equal to 4, got 5"),
    ]
    for key, value, complaint in bad:
        (project / "params.yaml").write_text((project / "profiles" / "laptop.yaml").read_text())
        edit_params({f"parallelism.{key}": value})
        with pytest.raises(ParamsError, match=re.escape(complaint)):
            load(parallelism.Params)
