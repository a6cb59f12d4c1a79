"""The experiments of `dvc exp run` as a list of what they changed and what came out."""

import copy
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from lab.results.diff import Change
from lab.results.findings import Finding, Over
from lab.tools.compare import Row
from lab.tools.experiments import Experiment, lines, read, show
from tests.helpers import ROOT, committed_params

COMMITTED = YAML(typ="safe", pure=True).load(committed_params())


def revision(params: Mapping[str, Any]) -> dict[str, Any]:
    return {"data": {"params": {"params.yaml": {"data": params}}, "metrics": {}}}


def experiment(name: str, state: str, lr: float) -> dict[str, Any]:
    """What DVC says of one of train@record_83."""
    params = copy.deepcopy(COMMITTED)
    params["train"]["runs"]["record_83"]["lr"] = lr
    executor = {"state": state} if state else None
    return {"name": name, "executor": executor, "revs": [revision(params)]}


def test_experiments_come_in_their_order_with_their_states_and_params():
    """DVC has the newest first, and no executor for one that ended well."""
    tried = [experiment("second", "failed", 0.3), experiment("first", "", 0.2)]
    params, found = read([{}, revision(COMMITTED) | {"experiments": tried}])
    assert [(each.name, each.state) for each in found] == [
        ("first", "success"),
        ("second", "failed"),
    ]
    changed = {key: v for key, v in found[0].params.items() if params[key] != v}
    assert changed == {"train.runs.record_83.lr": 0.2}
    assert read([{}, revision(COMMITTED) | {"experiments": None}])[1] == []
    unreadable = {"name": "x", "executor": None, "revs": [{"data": None}]}
    assert read([{}, revision(COMMITTED) | {"experiments": [unreadable]}])[1][0].params == {}


def test_an_experiment_is_what_it_changed_and_what_came_out():
    old, new = (Finding(n, n, n, 1, Over.SEEDS, "%", "more") for n in (84.61, 86.0))
    rows = [
        Row("train/record_83", Change("test_accuracy_percent", old, new, "too few samples")),
        Row("bench_overlap", Change("concurrent_s", old, new, "better")),  # no metric
    ]
    tried = Experiment("high", "success", {"train.runs.record_83.lr": 0.2})
    assert [*lines(tried, {"train.runs.record_83.lr": 0.1}, rows)] == [
        ("high", "", "", "", ""),
        ("", "train.runs.record_83.lr", "0.1", "0.2", ""),
        ("", "record_83 test_accuracy_percent", "84.61", "86", "too few samples"),
    ]
    assert [*lines(tried._replace(state="running"), tried.params, [])] == [
        ("high", "running", "", "", "")
    ]


PARAMS = "train:\n  runs:\n    a:\n      lr: 0.1\n"
STAGE = """\
import pathlib
from ruamel.yaml import YAML
lr = YAML().load(pathlib.Path("params.yaml"))["train"]["runs"]["a"]["lr"]
assert lr < 1, "diverged"
row = f"1,{2 * lr},0.5,2.0,0"
columns = "epoch,train_loss,test_accuracy,seconds,resumed"
pathlib.Path("reports/train/a/rows.csv").write_text(columns + chr(10) + row + chr(10))
"""
STAGES = """\
stages:
  train:
    matrix: {run: "${train.runs}"}
    cmd: python stage.py ${item}
    deps: [stage.py]
    params: ["train.runs.${item.run}"]
    outs: [{"reports/train/${item.run}/rows.csv": {cache: false}}]
"""


@pytest.mark.slow
def test_dvcs_own_experiments_finished_failed_and_queued(tmp_path, monkeypatch, capsys):
    """Each for real, in a project of one stage that takes no time."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    def command(*words: str) -> str:
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0 or "--run-all" in words, done.stderr
        return done.stdout

    command("git", "init", "--quiet")
    command("git", "config", "user.name", "reader")
    command("git", "config", "user.email", "reader@example.org")
    command("dvc", "init", "--quiet")
    command("dvc", "config", "core.analytics", "false")
    for name, text in (("params.yaml", PARAMS), ("stage.py", STAGE), ("dvc.yaml", STAGES)):
        Path(name).write_text(text)
    Path("reports/train/a").mkdir(parents=True)
    command("dvc", "repro", "--quiet")
    command("git", "add", ".")
    command("git", "commit", "--quiet", "-m", "first")

    def run(name: str, lr: float, *how: str) -> None:
        command("dvc", "exp", "run", *how, "-n", name, "-S", f"train.runs.a.lr={lr}")

    run("finished", 0.2)
    run("apart", 0.4, "--temp")
    run("failed", 5, "--queue")
    command("dvc", "exp", "run", "--run-all")
    run("queued", 0.3, "--queue")
    capsys.readouterr()
    show()
    shown = capsys.readouterr().out.splitlines()
    assert sorted(line.split() for line in shown[1:] if line[0] != " ") == [
        ["apart"],
        ["failed", "failed"],
        ["finished"],
        ["queued", "queued"],
    ]
    text = "\n".join(" ".join(line.split()) for line in shown)
    for lr, loss in ((0.2, 0.4), (0.4, 0.8)):
        came_out = f"a train_loss 0.2 {loss} too few samples"
        assert f"train.runs.a.lr 0.1 {lr}\n{came_out}" in text
    for lr in (5, 0.3):
        assert f"train.runs.a.lr 0.1 {lr}" in text
    assert text.count("train_loss") == 2, "what has not ended well has no results"
