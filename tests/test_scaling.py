"""What the stage `scaling` derives from what it measured, what its page says of it, and one small real run."""

import re

import numpy as np
import pytest
import torch

from lab import report_scaling, synthetic
from lab.bench import BenchParams
from lab.convergence import RULES
from lab.curves import line
from lab.data import Split
from lab.devices import DeviceParams, Devices
from lab.errors import ParamsError
from lab.params import load
from stages import scaling
from tests.helpers import edit_params
from tests.made_up import RATIOS, SCALING, scaling_curves, write_scaling

CPU = torch.device("cpu")


def metrics(**ratios):
    return scaling.summarise(scaling_curves(RATIOS | ratios), SCALING)


def page(tmp_path, kind="cpu-virtual", curves=None):
    write_scaling(tmp_path, kind, curves)
    return report_scaling.section(tmp_path / "scaling", tmp_path / "figures")


def test_metrics_have_names_that_dvc_keeps():
    assert all(re.fullmatch(r"[a-z0-9_]+", name) for name in metrics())


def test_data_parallel_moves_less_from_the_crossing_on():
    m = metrics()
    assert m["parallelism_pipeline_2_devices_crossing_images"] == 40, "0.05 MB an image against 2 MB"
    assert m["parallelism_tensor_parallel_3_devices_crossing_images"] == 30, "0.1 MB an image against 3 MB"
    assert (m["parallelism_one_device_mb"], m["parallelism_data_parallel_3_devices_device_mb"]) == (24, 8)
    assert m["parallelism_pipeline_of_4_micro_batches_2_devices_idle_by_flop_percent"] == 70


def test_crossing_of_a_line_that_does_not_start_at_zero():
    growing, level = line("", "", [2, 4], [5, 9]), line("", "", [2, 4], [21, 21])
    assert scaling.crossing_batch(growing, level) == 10


def test_the_notes_order_is_decided_by_its_weakest_pair():
    m = metrics()
    assert m["ratio_notes_order_holds"] == "yes"
    assert (m["ratio_inception_over_resnet"], m["ratio_resnet_over_alexnet"]) == (1.5, 15)
    assert metrics(**{"ResNet-50": 301})["ratio_notes_order_holds"] == "no"
    assert metrics(AlexNet=150)["ratio_notes_order_holds"] == "no"


def test_epochs_are_medians_over_seeds_in_which_a_failure_is_longer_than_all():
    m = metrics()
    fixed, linear, warm = ("convergence_fixed_rate", "convergence_rate_x_batch", "convergence_rate_x_batch_warm_up")
    assert [m[f"{fixed}_batch_100_epochs{s}"] for s in ("", "_low", "_high")] == [4, 4, 8]
    assert [m[f"{linear}_batch_100_epochs{s}"] for s in ("", "_low", "_high")] == [2, 1, "not reached"]
    assert [m[f"{warm}_batch_100_epochs{s}"] for s in ("", "_low", "_high")] == ["diverged"] * 3
    assert m[f"{fixed}_batch_10_seconds"] == pytest.approx(1 * 1000 * 200e-6)
    assert m[f"{fixed}_batch_100_seconds"] == pytest.approx(4 * 1000 * 100e-6)
    assert m[f"{warm}_batch_100_seconds"] == "diverged"


def test_the_penalty_is_paired_by_seed_and_a_bound_where_runs_failed():
    m = metrics()
    fixed, linear, warm = (f"convergence_{n}" for n in ("fixed_rate", "rate_x_batch", "rate_x_batch_warm_up"))
    name = "large_batch_penalty"
    assert [m[f"{fixed}_{name}{s}"] for s in ("", "_low", "_high", "_is")] == [4, 2, 8, "measured"]
    assert [m[f"{linear}_{name}{s}"] for s in ("", "_low", "_high", "_is")] == [1, 1, 8, "a lower bound"]
    assert m[f"{warm}_{name}"] == 8
    assert [m[f"{linear}_{how}_percent"] for how in ("not_reached", "diverged")] == [16.667, 0]
    assert [m[f"{warm}_{how}_percent"] for how in ("not_reached", "diverged")] == [0, 50]


@pytest.mark.parametrize("kind", ["cpu-virtual", "cuda"])
def test_the_page(tmp_path, kind):
    part = page(tmp_path, kind)
    assert sorted(p.stem for p in (tmp_path / "figures").iterdir()) == sorted(f.name for f in part.figures)
    text = " ".join([*part.findings, *(f.caption for f in part.figures), *(t.note for t in part.tables)])
    assert "nan" not in text.lower()
    assert ("virtual" in text) == (kind == "cpu-virtual")
    for table in part.tables:
        assert all(len(row) == len(table.header) for row in table.rows)
    drawn = (tmp_path / "figures" / "scaling_parallelism.svg").read_text()
    assert ("(virtual)" in drawn) == (kind == "cpu-virtual")


def test_the_page_says_what_the_numbers_say(tmp_path):
    text = " ".join(page(tmp_path).findings)
    assert "60 images (pipeline) and 30 images (tensor parallel)" in text
    assert "to 3 roundings" in text
    assert "rate x batch up to 100" in text
    assert "fixed rate at no larger batch" in text
    assert "4 (fixed rate; 2 to 8 over seeds), at least 1 (rate x batch" in text
    assert "22 % did not reach the target, 17 % because they diverged" in text
    assert "a batch of 10 with fixed rate, 0.2 s" in text


def test_a_page_of_another_order_and_of_runs_that_all_failed(tmp_path):
    made = [c for c in scaling_curves(RATIOS | {"AlexNet": 900}) if c.demo != "convergence_epochs"]
    made += [line("convergence_epochs", f"{rule}, seed {i}", [10, 100], [np.nan, np.nan])
             for rule in RULES for i in range(3)]  # fmt: skip
    text = " ".join(page(tmp_path, curves=made).findings)
    assert "does NOT hold" in text
    assert "100 % did not reach the target, none because it diverged" in text
    assert "fixed rate most runs failed even at 10" in text
    assert "shortest" not in text


def test_a_small_real_run_repeats_but_for_its_times():
    images, labels = synthetic.fashion(96, 0)
    split, devices = Split(images, labels.astype("int64")), Devices("cpu-virtual", [CPU] * 2, 1)
    few = SCALING.convergence.model_copy(
        update={"train_images": 96, "batch_sizes": [16, 48], "max_epochs": 1, "num_seeds": 2}
    )
    small = SCALING.model_copy(update={"num_devices": [2], "step_batch_sizes": [4, 8], "convergence": few})
    params = scaling.Params(seed=0, devices=DeviceParams(cpu_threads=1),
                            bench=BenchParams(rounds=8, aa_runs=1, min_sample_ms=0.1), scaling=small)  # fmt: skip
    first = scaling.measure(params, devices, split, split.first(40))
    sets = scaling.image_sets(few, CPU, split, split.first(40))
    again = [
        *scaling.measure_parallelism(small, devices, split, 0),
        *scaling.measure_convergence(few, CPU, *sets, 0),
    ]
    by_name = {(c.demo, c.series): c for c in first}
    for c in again:
        for column in ("x", "y", "diverged"):
            assert np.array_equal(getattr(c, column), getattr(by_name[c.demo, c.series], column)), c.series
    m = scaling.summarise(first, small)
    assert m["parallelism_largest_difference_eps"] < 1e4
    assert m["parallelism_data_parallel_2_devices_moved_mb"] == round(2 * 4 * 129_068 / 1e6, 4)
    assert m["ratio_notes_order_holds"] == "yes"
    assert m["ratio_lenet_flop_per_byte"] == pytest.approx(13.26e6 / 516_272, rel=1e-3)
    assert m["ratio_resnet_50_flop_per_byte"] == pytest.approx(3 * 8.18e9 / (4 * 25.557e6), rel=0.02)
    scaled = [by_name["convergence_epochs", f"{rule}, seed 1"].y[0] for rule in RULES[:2]]
    assert scaled[0] == scaled[1], "at the smallest batch both are one run"


@pytest.mark.parametrize(("changes", "complaint"), [
    ({"scaling.convergence.batch_sizes": [64, 32]}, "growing batch_sizes of at most train_images, got [64, 32]"),
    ({"scaling.convergence.train_images": 100}, "growing batch_sizes of at most train_images"),
    ({"scaling.step_batch_sizes": [16, 16]}, "two growing step_batch_sizes of at most train_images, got [16, 16]"),
    ({"scaling.num_devices": [2, 5]}, "num_devices.1: expected less than or equal to 4, got 5"),
    ({"scaling.convergence.image_side": 20}, "image_side: expected 14 or 28, got 20"),
])  # fmt: skip
def test_params_that_cannot_be_measured_are_refused(project, changes, complaint):
    edit_params(changes)
    with pytest.raises(ParamsError, match=re.escape(complaint)):
        load(scaling.Params)
