"""What report reads, derives and writes, and how it ends."""

import functools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import torch

from lab.core.params import PARAMS_FILE, read_yaml
from lab.core.shared_params import DeviceParams
from lab.data import synthetic
from lab.data.datasets import Split
from lab.data.images import shrink
from lab.machine.devices import Devices
from lab.optim import objectives
from lab.results.curves import Curve, key, rows_of
from lab.training.loop import Epoch
from stages.landscapes import __main__ as landscapes
from stages.landscapes.params import LandscapeParams
from stages.optimizers import __main__ as optimizers
from stages.optimizers import airfoil, regression
from stages.optimizers.params import OptimizerParams
from stages.replicas import __main__ as replicas
from stages.replicas.params import ReplicaParams
from stages.schedules import __main__ as schedules
from stages.schedules.params import ScheduleParams
from stages.train import __main__ as train
from stages.train.params import RunParams
from tests import made_up
from tests.helpers import ROOT, edit_params, small_run, write_data
from tests.stages.convergence.made_up import write_convergence
from tests.stages.parallelism.made_up import write_parallelism

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
    X, y = shrink(torch.tensor(images), 14).flatten(1), torch.from_numpy(split.labels)
    curves = [*schedules.drawn(), *schedules.tried((X, y, X, y), params, 0)]
    curves += schedules.warm_up_tested((X, y, X, y), params, 0)
    return curves, dict(schedules.summarise(curves))


THEORY = ("landscapes", "optimizers", "schedules", "replicas")


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
    write_parallelism(project / "reports")
    write_convergence(project / "reports")
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
