"""What the stage `convergence` derives from its runs, what its page says of them, and one small
real run.
"""

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
from stages.convergence.train_to_target import RULES
from tests.helpers import draw, edit_params
from tests.stages.convergence.made_up import CONVERGENCE, convergence_curves, write_convergence

CPU = torch.device("cpu")
SPREAD = ("", "_low", "_high")


def metrics():
    return convergence.summarise(convergence_curves(), CONVERGENCE)


def page(tmp_path, kind="cpu-virtual", curves=None):
    write_convergence(tmp_path, kind, curves)
    return section.section(tmp_path / "convergence")


def test_metrics_have_names_that_dvc_keeps():
    assert all(re.fullmatch(r"[a-z0-9_]+", name) for name in metrics())


def test_epochs_are_medians_over_seeds_in_which_a_failure_is_longer_than_all():
    m = metrics()
    assert [m[f"fixed_rate_batch_100_epochs{s}"] for s in SPREAD] == [4, 4, 8]
    assert [m[f"rate_x_batch_batch_100_epochs{s}"] for s in SPREAD] == [2, 1, "not reached"]
    assert [m[f"rate_x_batch_warm_up_batch_100_epochs{s}"] for s in SPREAD] == ["diverged"] * 3
    assert m["fixed_rate_batch_10_seconds"] == pytest.approx(1 * 1000 * 200e-6)
    assert m["fixed_rate_batch_100_seconds"] == pytest.approx(4 * 1000 * 100e-6)
    assert m["rate_x_batch_warm_up_batch_100_seconds"] == "diverged"


def test_the_penalty_is_paired_by_seed_and_a_bound_where_runs_failed():
    m, name = metrics(), "large_batch_penalty"
    assert [m[f"fixed_rate_{name}{s}"] for s in (*SPREAD, "_is")] == [4, 2, 8, "measured"]
    assert [m[f"rate_x_batch_{name}{s}"] for s in (*SPREAD, "_is")] == [1, 1, 8, "a lower bound"]
    assert m[f"rate_x_batch_warm_up_{name}"] == 8
    assert [m[f"rate_x_batch_{how}_percent"] for how in ("not_reached", "diverged")] == [16.667, 0]
    assert [m[f"rate_x_batch_warm_up_{how}_percent"] for how in ("not_reached", "diverged")] == [
        0,
        50,
    ]


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
    drawn = (tmp_path / "figures" / "convergence.svg").read_text()
    assert ("(virtual)" in drawn) == (kind == "cpu-virtual")


def test_the_page_says_what_the_numbers_say(tmp_path):
    text = " ".join(page(tmp_path).findings)
    assert "rate x batch up to 100" in text
    assert "fixed rate at no larger batch" in text
    assert "4 (fixed rate; 2 to 8 over seeds), at least 1 (rate x batch" in text
    assert "22 % did not reach the target, 17 % because they diverged" in text
    assert "a batch of 10 with fixed rate, 0.2 s" in text


def test_a_page_of_runs_that_all_failed(tmp_path):
    made = convergence_curves(dict.fromkeys(RULES, ((np.nan, np.nan),) * 3))
    text = " ".join(page(tmp_path, curves=made).findings)
    assert "100 % did not reach the target, none because it diverged" in text
    assert "fixed rate most runs failed even at 10" in text
    assert "shortest" not in text


def test_a_small_real_run_repeats_but_for_its_times():
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
    sets = convergence.image_sets(few, CPU, split, split.first(40))
    for c in convergence.measure_epochs(few, CPU, *sets, 0):
        for column in ("x", "y", "diverged"):
            assert np.array_equal(getattr(c, column), getattr(by_name[c.demo, c.series], column)), (
                c.series
            )
    scaled = [by_name["epochs", f"{rule}, seed 1"].y[0] for rule in RULES[:2]]
    assert scaled[0] == scaled[1], "at the smallest batch both are one run"
    m = convergence.summarise(first, few)
    assert (m["target_percent"], m["train_images"]) == (60, 96)
    assert all(m[f"batch_{n}_us_per_image"] > 0 for n in few.batch_sizes)


@pytest.mark.parametrize(
    ("key", "value", "complaint"),
    [
        ("batch_sizes", [64, 32], "growing batch_sizes of at most train_images, got [64, 32]"),
        ("train_images", 100, "growing batch_sizes of at most train_images"),
        ("image_side", 20, "image_side: expected 14 or 28, got 20"),
    ],
)
def test_params_that_cannot_be_measured_are_refused(project, key, value, complaint):
    edit_params({f"convergence.{key}": value})
    with pytest.raises(ParamsError, match=re.escape(complaint)):
        load(convergence.Params)
