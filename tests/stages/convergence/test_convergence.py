"""What `convergence` derives and its page says, from made-up runs; and one small real run."""

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
from stages.convergence import __main__ as convergence
from stages.convergence import section
from stages.convergence.names import (
    ACCURACY,
    DIVERGED_PERCENT,
    EPOCHS,
    FIXED,
    LINEAR,
    NOT_REACHED_PERCENT,
    ONE_DEVICE,
    RULES,
    TARGET_PERCENT,
    TRAIN_IMAGES,
    US_PER_IMAGE,
    WARM_UP,
    large_batch_penalty,
    readings_of,
    seed_of,
)
from stages.convergence.over_seeds import epochs_of, median_and_range
from tests.helpers import check_page, edit_params
from tests.stages.convergence.made_up import CONVERGENCE, INF, convergence_curves, write_convergence

CPU = torch.device("cpu")


def metrics():
    return convergence.summarise(convergence_curves(), CONVERGENCE)


def page(tmp_path, kind="cpu-virtual", curves=None):
    write_convergence(tmp_path, kind, curves)
    return section.section(tmp_path / "convergence")


def test_metrics_have_names_that_dvc_keeps():
    assert all(re.fullmatch(r"[a-z0-9_]+", name) for name in metrics())


def test_a_failure_is_longer_than_all_epochs():
    curves = [c for c in convergence_curves() if c.demo == EPOCHS]
    assert epochs_of(curves, LINEAR).tolist() == [[1, 1], [2, 2], [1, INF]]
    assert median_and_range([4, 8, 4]) == (4, 4, 8)
    assert median_and_range([1, INF, 2]) == (2, 1, INF)
    assert median_and_range([1, 2]) == (2, 1, 2), "the higher middle"


def test_the_penalty_is_paired_by_seed_and_a_failure_costs_the_whole_budget():
    m = metrics()

    def penalty(rule):
        return [m[f"{large_batch_penalty(rule)}{end}"] for end in ("", "_low", "_high")]

    assert penalty(FIXED) == [4, 2, 8]
    assert penalty(LINEAR) == [1, 1, 8]
    assert penalty(WARM_UP) == [8, 4, 8]
    assert (m[NOT_REACHED_PERCENT], m[DIVERGED_PERCENT]) == (5.556, 16.667), "of 18 runs"


@pytest.mark.parametrize("kind", ["cpu-virtual", "cuda"])
def test_the_page(tmp_path, kind):
    check_page(page(tmp_path, kind), tmp_path / "figures", kind, "convergence")


def test_the_page_says_what_the_numbers_say(tmp_path):
    text = " ".join(page(tmp_path).findings)
    assert f"{LINEAR} up to 256" in text
    assert f"{FIXED} at no larger batch" in text
    assert f"4 ({FIXED}; 2 to 8 over seeds), at least 1 ({LINEAR}" in text
    assert "22 % did not reach the target, 17 % because they diverged" in text
    assert f"a batch of 64 with {FIXED}, 0.2 s" in text


def test_a_page_of_runs_that_all_failed(tmp_path):
    made = convergence_curves(dict.fromkeys(RULES, ((np.nan, np.nan),) * 3))
    text = " ".join(page(tmp_path, curves=made).findings)
    assert "100 % did not reach the target, none because it diverged" in text
    assert f"{FIXED} most runs failed even at 64" in text
    assert "shortest" not in text


def test_a_small_real_run_repeats_but_for_its_times(one_thread):
    images, labels = synthetic.fashion(96, 0)
    split, devices = Split(images, labels.astype("int64")), Devices("cpu-virtual", [CPU], 1)
    few = CONVERGENCE.model_copy(
        update={"train_images": 96, "batch_sizes": [16, 48], "max_epochs": 1, "num_seeds": 2}
    )
    bench = BenchParams(rounds=8, aa_runs=1, min_sample_ms=0.1)
    params = convergence.Params(
        seed=0, devices=DeviceParams(cpu_threads=1), bench=bench, convergence=few
    )
    first = convergence.measure(params, devices, split, split.first(40))
    by_name = {(c.demo, c.series): c for c in first}
    sets = (convergence.small_images(part, 14, CPU) for part in (split, split.first(40)))
    for c in convergence.measure_epochs(few, CPU, *sets, 0):
        for column in ("x", "y", "diverged"):
            assert np.array_equal(getattr(c, column), getattr(by_name[c.demo, c.series], column)), (
                c.series
            )
    for rule in RULES:
        accuracies = by_name[ACCURACY, readings_of(rule, 48, 1)]
        assert accuracies.x[-1] == 1, "the last reading of an epoch without the target"
        assert (accuracies.y >= 0).all()
    scaled = [by_name[EPOCHS, seed_of(rule, 1)].y[0] for rule in (FIXED, LINEAR)]
    assert scaled[0] == scaled[1], "at the smallest batch both are one run"
    assert (by_name[US_PER_IMAGE, ONE_DEVICE].y > 0).all()
    m = convergence.summarise(first, few)
    assert (m[TARGET_PERCENT], m[TRAIN_IMAGES]) == (60, 96)


def test_params_that_cannot_be_measured_are_refused(project):
    bad = [
        ("batch_sizes", [64, 32], "growing batch_sizes of at most train_images, got [64, 32]"),
        ("train_images", 100, "growing batch_sizes of at most train_images"),
        ("image_side", 20, "image_side: expected 14 or 28, got 20"),
    ]
    for key, value, complaint in bad:
        (project / "params.yaml").write_text((project / "profiles" / "laptop.yaml").read_text())
        edit_params({f"convergence.{key}": value})
        with pytest.raises(ParamsError, match=re.escape(complaint)):
            load(convergence.Params)
