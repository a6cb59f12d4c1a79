"""The stages' own parts: what they read, what they derive, and how they end, run as DVC runs them."""

import functools
import json
import math
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from lab.core.params import PARAMS_FILE, read_yaml
from lab.core.shared_params import DeviceParams
from lab.data import synthetic
from lab.data.datasets import CLASSES, Split
from lab.machine.devices import Devices
from lab.nets.models import LeNet
from lab.optim import objectives
from lab.results.curves import Curve, key, rows_of
from lab.training.loop import Epoch
from stages.fetch import __main__ as fetch
from stages.landscapes import __main__ as landscapes
from stages.landscapes.params import LandscapeParams
from stages.optimizers import __main__ as optimizers
from stages.optimizers import airfoil, quadratics, regression
from stages.optimizers.params import OptimizerParams
from stages.replicas import __main__ as replicas
from stages.replicas.params import ReplicaParams
from stages.schedules import __main__ as schedules
from stages.schedules import batched_nets
from stages.schedules.params import ScheduleParams
from stages.train import __main__ as train
from stages.train import section
from stages.train.params import RunParams
from stages.train.section import TrainingRun
from tests import made_up
from tests.helpers import ROOT, edit_params, small_run, write_data

CPU = Devices("cpu-virtual", [torch.device("cpu")] * 2, threads=1)
EPOCHS = [Epoch(1, 2.3, 0.1, 4.0), Epoch(2, 1.6, 0.6, 2.0), Epoch(3, 0.7, 0.75, 2.5)]
SETTINGS = RunParams.model_validate(small_run(num_gpus=2, num_epochs=3))


def run_stage(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", *words]
    env = (
        {k: v for k, v in os.environ.items() if k != "LAB_DATA_MIRROR"}
        | {"PYTHONPATH": str(ROOT)}
        | environment
    )
    return subprocess.run(
        command, env=env, capture_output=True, text=True, check=False, timeout=120
    )


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def errors(result: subprocess.CompletedProcess[str]) -> list[str]:
    lines = result.stderr.splitlines()
    assert lines, "an error says something"
    assert all(line.startswith("ERROR: ") for line in lines), result.stderr
    return lines


# --- train ----------------------------------------------------------------------------------------------------


def test_train_derives_medians_with_their_spread():
    metrics = train.summarise(SETTINGS, EPOCHS, 100, b"weights", CPU, "fashion-mnist")
    assert metrics["epoch_s"] == 2.5
    assert metrics["epoch_s_iqr"] == 1.0
    assert metrics["images_per_s"] == 40.0
    assert metrics["test_accuracy_percent"] == 75.0
    assert metrics["train_loss"] == 0.7
    assert (metrics["num_devices"], metrics["device_kind"], metrics["dataset"]) == (
        2,
        "cpu-virtual",
        "fashion-mnist",
    )


def test_train_has_a_row_per_epoch_that_says_what_it_ran_on():
    rows = train.rows_of(EPOCHS, 100, CPU, "synthetic")
    assert [row["epoch"] for row in rows] == [1, 2, 3]
    assert [row["images_per_s"] for row in rows] == [25.0, 50.0, 40.0]
    assert {(row["device_kind"], row["dataset"]) for row in rows} == {("cpu-virtual", "synthetic")}


def test_an_interrupted_epoch_is_marked_and_not_timed():
    epochs = [*EPOCHS[:2], replace(EPOCHS[2], seconds=99.0, resumed=True)]
    metrics = train.summarise(SETTINGS, epochs, 100, b"", CPU, "synthetic")
    assert (metrics["epoch_s"], metrics["train_loss"]) == (3.0, 0.7)
    assert [row["resumed"] for row in train.rows_of(epochs, 100, CPU, "synthetic")] == [0, 0, 1]
    assert train.summarise(SETTINGS, epochs[2:], 100, b"", CPU, "synthetic")["epoch_s"] == 99


def test_weights_are_the_same_bytes_for_the_same_weights_and_load_safely(tmp_path):
    weights = LeNet(torch.Generator().manual_seed(0)).state_dict()
    assert train.to_bytes(weights) == train.to_bytes(
        {name: w.clone() for name, w in weights.items()}
    )
    (tmp_path / "w.pt").write_bytes(train.to_bytes(weights))
    loaded = torch.load(tmp_path / "w.pt", weights_only=True)
    assert list(loaded) == ["W1", "b1", "W2", "b2", "W3", "b3", "W4", "b4"]
    assert all(torch.equal(loaded[name], w) for name, w in weights.items())


def test_a_confusion_matrix_counts_each_test_image_in_its_own_row():
    labels = torch.tensor([0, 0, 1, 9])
    logits = torch.eye(10)[[0, 3, 1, 9]]
    rows = train.confusion_of(logits, labels)
    assert [row["class"] for row in rows] == list(CLASSES)
    assert (
        rows[0]["T-shirt/top"],
        rows[0]["Dress"],
        rows[1]["Trouser"],
        rows[9]["Ankle boot"],
    ) == (1, 1, 1, 1)
    assert sum(int(row[name]) for row in rows for name in CLASSES) == 4


def test_the_worst_images_are_those_whose_own_class_is_least_believed():
    labels = torch.tensor([0, 1, 2])
    logits = torch.zeros(3, 10)
    logits[0, 0], logits[1, 5], logits[2, 2] = 5, 20, 1
    rows = train.worst_of(logits, labels, count=2)
    assert [(row["image"], row["class"], row["taken_for"]) for row in rows] == [
        (1, "Trouser", "Sandal"),
        (2, "Pullover", "Pullover"),
    ]
    assert rows[0]["probability_percent"] < 1e-4


def test_train_repeats_bit_for_bit_in_new_processes_and_on_two_devices_to_rounding(project):
    write_data(project / "data", train=650, test=120)  # more than the params ask for
    edit_params({"train.runs": {"one": small_run(), "two": small_run(num_gpus=2)}})

    def results(name: str) -> tuple[bytes, list[str]]:
        result = run_stage("stages.train", name)
        assert result.returncode == 0, result.stderr
        rows = (project / "reports" / "train" / name / "rows.csv").read_text().splitlines()
        return (project / "models" / f"{name}.pt").read_bytes(), [
            ",".join(row.split(",")[:3]) for row in rows
        ]

    first = results("one")
    assert first == results("one")
    second = results("two")
    assert second == results("two")
    one, two = (torch.load(f"models/{name}.pt", weights_only=True) for name in ("one", "two"))
    for name in one:
        torch.testing.assert_close(one[name], two[name])
    metrics = json.loads(Path("reports/train/two/metrics.json").read_text())
    assert metrics["num_devices"] == 2
    assert (metrics["train_images"], metrics["strategy"]) == (600, "replicas")
    assert not list(Path(".lab/checkpoints").glob("*/")), (
        "a run that has its results keeps no checkpoint"
    )


@pytest.mark.parametrize(
    ("changes", "words", "code", "complaint"),
    [
        (
            {"train.runs.lenet_1gpu.num_gpus": 0, "seed": -1},
            ["lenet_1gpu"],
            2,
            "num_gpus: expected greater than",
        ),
        ({}, ["lenet_3gpu"], 2, "no run 'lenet_3gpu' in train.runs; it has lenet_1gpu, lenet_2gpu"),
        (
            {"train.runs.lenet_1gpu.train_images": 100},
            ["lenet_1gpu"],
            2,
            "expected a batch_size of at most train_images",
        ),
        (
            {
                "train.distributed": {
                    "nnodes": 3,
                    "rdzv_endpoint": "127.0.0.1:29500",
                    "timeout_s": 5,
                }
            },
            ["resnet18_2gpu"],
            2,
            "train.runs.resnet18_2gpu.num_gpus: expected a multiple of train.distributed.nnodes (3), got 2",
        ),
        (
            {"train.runs.lenet_2gpu.compile": "reduce-overhead"},
            ["lenet_2gpu"],
            2,
            "expected strategy ddp for compile reduce-overhead on several devices",
        ),
        pytest.param(
            {"train.runs.lenet_1gpu.precision": "tf32"},
            ["lenet_1gpu"],
            4,
            "tf32 needs a CUDA GPU",
            marks=pytest.mark.skipif(torch.cuda.is_available(), reason="it has one"),
        ),
        ({"train.runs.lenet_1gpu.strategy": "ddp"}, ["lenet_1gpu"], 3, "no data yet"),
        ({}, ["lenet_1gpu"], 3, "no data yet"),
    ],
)
def test_a_mistake_ends_train_with_its_code_and_nothing_written(
    project, changes, words, code, complaint
):
    edit_params(changes)
    before = files(project)
    result = run_stage("stages.train", *words)
    assert result.returncode == code
    assert len(errors(result)) == max(1, len(changes))
    assert complaint in result.stderr
    assert files(project) - before == {".lab/last_error.json"}


def test_divergence_ends_train_with_code_6_and_no_weights(project):
    write_data(project / "data", train=600, test=100)
    diverging = small_run(lr=300, batch_size=32)
    edit_params(
        {"train.runs": {"one": diverging, "two": diverging | {"strategy": "ddp", "num_gpus": 2}}}
    )
    for name in ("one", "two"):
        result = run_stage("stages.train", name)
        assert result.returncode == 6
        [line] = errors(result)
        assert re.search(r"the loss is (nan|inf) in epoch 1, step \d+; lower lr \(it is 300", line)
        assert not (project / "models").exists()
        assert not list(Path(".lab/checkpoints").glob("*/")), "no checkpoint of what is not finite"


# --- probe and fetch ------------------------------------------------------------------------------------------


def test_probe_checks_all_params_before_it_writes_anything(project):
    edit_params({"train.runs.lenet_1gpu.lr": 0, "data.timeout_s": 0, "extra": 1})
    result = run_stage("stages.probe")
    assert result.returncode == 2
    assert len(errors(result)) == 3
    assert not (project / "reports").exists()


def test_fetch_without_any_source_draws_labelled_look_alikes(project):
    edit_params({"data.mirrors.fashion_mnist": [], "data.mirrors.airfoil": []})
    result = run_stage("stages.fetch")
    assert result.returncode == 0
    assert "SYNTHETIC" in result.stdout
    metrics = json.loads((project / "reports" / "fetch" / "metrics.json").read_text())
    assert (metrics["dataset"], metrics["airfoil"], metrics["train_images"]) == (
        "synthetic",
        "synthetic",
        60_000,
    )
    assert (
        json.loads((project / "data" / "source.json").read_text())["fashion_mnist"] == "synthetic"
    )
    first = (project / "data" / "source.json").read_bytes()
    assert run_stage("stages.fetch").returncode == 0
    assert (project / "data" / "source.json").read_bytes() == first, (
        "the look-alikes are the same files everywhere"
    )


def test_fetch_fails_where_the_params_say_so(project):
    edit_params(
        {"data.mirrors.fashion_mnist": ["http://127.0.0.1:1"], "data.if_unreachable": "fail"}
    )
    result = run_stage("stages.fetch")
    assert result.returncode == 3
    assert "LAB_DATA_MIRROR" in errors(result)[0]
    assert files(project / "data") == set()


def test_fetch_says_what_it_fetched():
    images = torch.full((2, 28, 28), 51, dtype=torch.uint8).numpy()
    split = Split(images, torch.zeros(2, dtype=torch.int64).numpy())
    metrics = fetch.summarise({"fashion_mnist": "original", "airfoil": "synthetic"}, split, split)
    assert (metrics["dataset"], metrics["airfoil"], metrics["mean_pixel"]) == (
        "fashion-mnist",
        "synthetic",
        51.0,
    )


# --- landscapes, optimizers, schedules ----------------------------------------------------------------------------


@functools.cache
def small(stage: str) -> tuple[list[Curve], dict[str, object]]:
    """Return the curves and metrics of a theory stage at its smallest."""
    images, labels = synthetic.fashion(256, 0)
    split = Split(images, labels.astype("int64"))
    if stage == "landscapes":
        params = LandscapeParams(
            num_draws=50,
            sample_sizes=[10, 1000],
            dimensions=[1, 2, 20],
            saddle_lr=0.05,
            saddle_noise=0.01,
        )
        curves = landscapes.measure(params, seed=0)
        return curves, dict(landscapes.summarise(curves))
    if stage == "replicas":
        few = ReplicaParams(num_devices=2, batch_size=9, num_steps=3, batch_norm_images=4)
        wanted = replicas.Params(seed=0, devices=DeviceParams(cpu_threads=1), replicas=few)
        X, y = torch.tensor(split.images[:9]), torch.tensor(split.labels[:9])
        curves = [
            *replicas.measure(wanted, [(X, y)] * 3),
            *replicas.measure_batch_norm(0, X[:4], y[:4]),
        ]
        return curves, replicas.summarise(curves)
    if stage == "optimizers":
        params = OptimizerParams(
            num_seeds=3,
            num_rates=6,
            num_starts=36,
            lenet_steps=1,
            lenet_batch_size=16,
            timing_runs=5,
        )
        table = regression.problem(*objectives.standardise(synthetic.airfoil(0)))
        curves = optimizers.measure(params, table, split, split, seed=0)
        times = {f"{key(name)}_step_us": 1.0 for name in airfoil.SWEPT}
        return curves, optimizers.summarise(curves, table) | times | {"airfoil": "synthetic"}
    params = ScheduleParams(
        num_seeds=2,
        train_images=256,
        batch_size=128,
        high_rates=[0.1, 2.0],
        warm_up_epochs=1,
        num_epochs=3,
    )
    X, y = batched_nets.shrink(torch.tensor(images)), torch.from_numpy(split.labels)
    curves = [*schedules.drawn(), *schedules.tried((X, y, X, y), params, 0)]
    curves += schedules.warm_up_tested((X, y, X, y), params, 0)
    return curves, dict(schedules.summarise(curves))


THEORY = ("landscapes", "optimizers", "schedules", "replicas")


@pytest.mark.parametrize("stage", THEORY)
def test_theory_repeats_bit_for_bit(stage):
    assert rows_of(small.__wrapped__(stage)[0]) == rows_of(small(stage)[0])


def test_landscapes_finds_what_is_known():
    _, m = small("landscapes")
    assert (m["argmin_risk"], m["argmin_empirical_risk"]) == (1.090408, 1.016983)
    assert m["excess_risk"] == pytest.approx(0.0312, abs=5e-5)
    assert (m["saddle_eigenvalue_low"], m["saddle_eigenvalue_high"]) == (-2, 2)
    assert m["escape_steps_gd_from_0"] == landscapes.SADDLE_LIMIT, (
        "on the line itself GD never leaves"
    )
    assert m["escape_steps_gd"] == math.ceil(math.log(1e6) / math.log(1.1)), (
        "x2 grows by 1.1 a step from 1e-6"
    )
    assert m["escape_steps_gd_with_noise_from_0"] < 500


def test_optimizers_finds_what_is_known():
    _, m = small("optimizers")
    assert (m["trace_adagrad_rate_04_x1"], m["trace_adagrad_rate_04_x2"]) == (-2.382563, -0.158591)
    assert (m["trace_gd_rate_04_x1"], m["trace_gd_rate_04_x2"]) == (-0.943467, -0.000073)
    assert m["stability_boundary_max_error"] < 1e-3


@pytest.mark.parametrize(
    ("beta", "curvature"), [(0.0, 0.5), (0.5, 1.0), (0.9, 3.0), (0.9, 3.9), (0.3, 2.7)]
)
def test_the_measured_growth_of_momentum_is_the_spectral_radius(beta, curvature):
    matrix = np.array([[1 - curvature, -beta], [curvature, beta]])
    radius = np.abs(np.linalg.eigvals(matrix)).max()
    assert quadratics.growth(np.array(beta), np.array(curvature)) == pytest.approx(radius, rel=0.01)


def test_a_rate_that_diverges_gives_a_row_with_its_share_and_step():
    rows = [
        row
        for row in rows_of(small("optimizers")[0])
        if row["demo"] == "airfoil_rates" and row["series"] == "SGD"
    ]
    assert rows[-1]["diverged"] == 1
    assert rows[-1]["diverged_step"] > 0
    assert rows[-1]["y"] == ""


def test_schedules_tries_what_it_draws_and_the_books_way():
    curves, m = small("schedules")
    tried = {c.series for c in curves if c.demo == "schedule_accuracy"}
    assert tried == {c.series for c in curves if c.demo == "schedule"}
    assert "warm_up_as_the_book_applies_it_failed_percent" in m


@pytest.mark.parametrize("stage", ["optimizers", "schedules"])
def test_missing_data_end_a_theory_stage_with_code_3_and_the_command_that_fetches(project, stage):
    result = run_stage(f"stages.{stage}")
    assert result.returncode == 3
    assert "`dvc repro fetch` brings them" in errors(result)[0]


# --- report -------------------------------------------------------------------------------------------------------


def training_run(name: str, num_devices: int, **changes: object) -> TrainingRun:
    metrics = train.summarise(SETTINGS, EPOCHS, 60_000, b"", CPU, "fashion-mnist")
    rows = train.rows_of(EPOCHS, 60_000, CPU, "fashion-mnist")
    return TrainingRun(name, {**metrics, "num_devices": num_devices, **changes}, rows)


def test_findings_compare_only_runs_that_differ_in_devices_alone():
    one, two = training_run("one", 1), training_run("two", 2)
    assert any("no speed-up is claimed" in sentence for sentence in section.findings([one, two]))
    for change in (
        {"lr": 0.1},
        {"batch_size": 512},
        {"device_kind": "cuda"},
        {"dataset": "synthetic"},
    ):
        others = section.findings([one, training_run("two", 2, **change)])
        assert not any("speed-up" in sentence for sentence in others)


def test_the_books_numbers_stand_only_beside_the_books_own_run():
    assert training_run("x", 1, num_epochs=10).book == (83, 3.0)
    assert training_run("x", 2, num_epochs=10).book == (84, 2.8)
    for change in (
        {"num_epochs": 3},
        {"num_epochs": 10, "dataset": "synthetic"},
        {"num_epochs": 10, "lr": 0.1},
    ):
        assert training_run("x", 1, **change).book is None


def write_results(project: Path, origin: str = "original") -> None:
    """Write what every stage leaves behind, as the report finds it."""
    write_data(project / "data", train=400, origin=origin)
    dataset = "fashion-mnist" if origin == "original" else "synthetic"
    for name in read_yaml(PARAMS_FILE)["train"]["runs"]:
        folder = project / "reports" / "train" / name
        train.write_rows(folder, train.rows_of(EPOCHS, 60_000, CPU, dataset))
        train.write_metrics(folder, train.summarise(SETTINGS, EPOCHS, 60_000, b"", CPU, dataset))
        logits, labels = (
            torch.rand(40, 10, generator=torch.Generator().manual_seed(0)),
            torch.arange(40) % 10,
        )
        train.write_rows(folder, train.confusion_of(logits, labels), "confusion.csv")
        train.write_rows(folder, train.worst_of(logits, labels), "worst.csv")
    for stage in THEORY:
        curves, metrics = small(stage)
        train.write_rows(project / "reports" / stage, rows_of(curves))
        train.write_metrics(project / "reports" / stage, metrics)
    for stage in made_up.BENCHES:
        made_up.write(stage, project / "reports")
    made_up.write_parallelism(project / "reports")
    made_up.write_convergence(project / "reports")
    for stage in ("probe", "claims"):
        assert run_stage(f"stages.{stage}").returncode == 0


def test_the_report_is_the_same_bytes_twice_without_torch_and_asks_nothing_of_the_network(project):
    write_results(project)

    def pages() -> dict[str, bytes]:
        blocked = "import sys; sys.modules['torch'] = None; import runpy; runpy.run_module('stages.report')"
        result = subprocess.run(
            [sys.executable, "-c", blocked + "; from stages.report.__main__ import main; main()"],
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            check=True,
            timeout=120,
        )
        assert result.returncode == 0
        return {
            name: (project / "reports" / name).read_bytes() for name in files(project / "reports")
        }

    first = pages()
    assert {
        "index.html",
        "index.zh.html",
        "README.md",
        "figures/samples.svg",
        "figures/warm_up.svg",
    } <= set(first)
    assert pages() == first
    for html in (first[page].decode() for page in ("index.html", "index.zh.html")):
        assert (
            html.count("<svg")
            == html.count("<figure")
            == len([f for f in first if f.endswith(".svg")])
        )
        assert "default-src 'none'" in html
        for word in ('src="http', 'href="http', "<script", "<link", "url(http"):
            assert word not in html
        assert not re.search("<strong>(Synthetic data|合成数据)", html)


def test_a_report_from_look_alikes_says_so_on_every_page(project):
    write_results(project, origin="synthetic")
    assert run_stage("stages.report").returncode == 0
    english = ("Synthetic data", "synthetic look-alike", "the book prints")
    chinese = ("<strong>合成数据", "合成的仿制", "书中给出")
    for page, words in (
        ("index.html", english),
        ("README.md", english),
        ("index.zh.html", chinese),
    ):
        text = (project / "reports" / page).read_text()
        assert [word in text for word in words] == [True, True, False]


def test_a_run_without_results_is_said(project):
    write_results(project)
    (project / "reports" / "train" / "lenet_2gpu" / "metrics.json").unlink()
    assert run_stage("stages.report").returncode == 0
    words = {"index.html": "train: no results to show", "index.zh.html": "train：没有可显示的结果"}
    for page, title in words.items():
        text = (project / "reports" / page).read_text()
        assert title in text
        assert "lenet_2gpu/metrics.json: not there yet; `invoke repro` makes it" in text
    result = run_stage("stages.report", "--strict")
    assert result.returncode == 3
    assert "no usable results of train" in errors(result)[0]


def test_a_hostile_or_damaged_file_neither_runs_nor_keeps_the_page_from_the_rest(project):
    write_results(project)
    reports, evil = project / "reports", "<script>alert(1)"
    edit_params({"train.runs": {**read_yaml(PARAMS_FILE)["train"]["runs"], evil: small_run()}})
    shutil.copytree(reports / "train" / "lenet_1gpu", reports / "train" / evil)
    rows = (reports / "bench_input" / "rows.csv").read_text()
    (reports / "bench_input" / "rows.csv").write_text(
        rows.replace("resident bytes", f"resident {evil}")
    )
    claims = (reports / "claims" / "rows.csv").read_text()
    (reports / "claims" / "rows.csv").write_text(claims.replace("needs a GPU", evil))
    (reports / "bench_async" / "metrics.json").write_text('{"a": 1}')
    (reports / "schedules" / "metrics.json").write_text("")
    (reports / "convergence" / "rows.csv").write_text("demo,series\n" + evil)
    text = (reports / "bench_parallel" / "metrics.json").read_text()
    (reports / "bench_parallel" / "metrics.json").write_text(
        re.sub('"speedup": .*?,', '"speedup": NaN,', text)
    )
    (reports / "scaling" / "rows.csv").unlink()
    result = run_stage("stages.report", "--strict")
    assert result.returncode == 3, result.stderr
    for page in ("index.html", "index.zh.html"):
        html = (reports / page).read_text()
        assert "<script" not in html
        for stage in ("bench_async", "schedules", "convergence", "scaling"):
            assert f"dvc repro --force {stage}" in html
        assert 'id="figure-roofline"' in html, "what is whole is shown"


# --- the interpreter ------------------------------------------------------------------------------------------


@pytest.mark.skipif(
    not Path("/proc/self/cmdline").exists(), reason="finding DVC's interpreter needs /proc"
)
def test_a_stage_started_on_another_python_by_dvc_hands_over_to_dvcs(project):
    """A script called `dvc` on this interpreter starts a stage on one that does not have the lab."""
    other = Path(sys.base_prefix) / "bin" / "python3"
    blank = [str(other), "-c", "import importlib.metadata as m; m.distribution('d2l-lab')"]
    if subprocess.run(blank, capture_output=True, check=False, cwd=project).returncode == 0:
        pytest.skip("no other Python here")
    dvc = project / "dvc"
    dvc.write_text(
        f"import os, subprocess, sys\nenv = dict(os.environ, DVC_STAGE='probe', PYTHONPATH={str(ROOT)!r})\n"
        f"sys.exit(subprocess.call('{other} -m stages.probe', shell=True, env=env))\n"
    )
    result = subprocess.run(
        [sys.executable, str(dvc)], capture_output=True, text=True, check=False, timeout=120
    )
    assert result.returncode == 0, result.stderr
    assert (project / "reports" / "hardware.json").exists()
