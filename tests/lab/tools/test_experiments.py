"""A table of experiments that fits a terminal, and gives no result to what has none."""

import copy
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from lab.core.params import read_yaml
from lab.tools.experiments import columns, read, table
from lab.tools.profiles import merge
from tests.helpers import ROOT, committed_params

PIPELINE = read_yaml(ROOT / "dvc.yaml")
COMMITTED = YAML(typ="safe", pure=True).load(committed_params())
SMOKE = YAML(typ="safe", pure=True).load(merge("smoke", ROOT / "profiles", ROOT / "params.yaml"))
RESULTS = {
    "train/record_83": {"test_accuracy_percent": 84.61, "train_loss": 0.586599, "epoch_s": 0.2853},
    "bench_async": {"book_claims": 1.5397},
}


def revision(
    params: Mapping[str, Any], results: Mapping[str, Any], name: str, state: str = ""
) -> dict[str, Any]:
    """What DVC says of a commit, or of an experiment in a state other than success."""
    metrics = {f"reports/{folder}/metrics.json": {"data": each} for folder, each in results.items()}
    data = {"params": {"params.yaml": {"data": params}}, "metrics": metrics}
    rev = {"rev": "0123456789", "name": name, "data": data}
    return {"name": name, "executor": {"state": state} if state else None, "revs": [rev]}


def experiment(
    name: str, state: str = "", lr: float = 0.1, of: Mapping[str, Any] = COMMITTED
) -> dict[str, Any]:
    """One of train@record_83; with the commit's metrics, as DVC has it, unless it ended well."""
    params, results = copy.deepcopy(dict(of)), copy.deepcopy(RESULTS)
    params["train"]["runs"]["record_83"]["lr"] = lr
    if not state:
        results["train/record_83"]["test_accuracy_percent"] = 80 + lr
    return revision(params, results, name, state)


def shown(*tried: dict[str, Any], width: int = 100) -> list[list[str]]:
    """The words of each line."""
    [commit] = revision(COMMITTED, RESULTS, "main")["revs"]
    found = read([{}, commit | {"experiments": [*tried]}])
    lines = [*table(found, [*columns(found, PIPELINE)], width)]
    assert max(map(len, lines)) <= width
    return [line.split() for line in lines]


def test_only_what_ended_well_has_results():
    """DVC gives all others the metrics of the commit that they began with."""
    unfinished = ("queued", "running", "failed")
    owners, keys, main, well, *others = shown(
        experiment("well", lr=0.2), *(experiment(state, state, lr=0.3) for state in unfinished)
    )
    assert owners == ["record_83"], "once, above all of its columns"
    assert keys == ["experiment", "state", "lr", "test_accuracy_percent"]
    assert main == ["main", "0.1", "84.61"]
    assert well == ["well", "success", "0.2", "80.2"]
    assert others == [[state, state, "0.3"] for state in unfinished]


def test_a_changed_profile_does_not_bury_what_an_experiment_changed():
    for tried in (
        [experiment("a", lr=0.2, of=SMOKE)],
        [experiment("a", lr=0.2, of=SMOKE), experiment("b", "queued", lr=0.3, of=SMOKE)],
        [experiment("a", lr=0.2), experiment("b", lr=0.3, of=SMOKE)],
    ):
        for width in (80, 120):
            _, keys, main, *rows = shown(*tried, width=width)
            assert {"lr", "test_accuracy_percent"} <= {*keys}
            assert main[keys.index("lr") - 1] == "0.1"  # it has no state
            assert [row[keys.index("lr")] for row in rows[: len(tried)]] == ["0.2", "0.3"][
                : len(tried)
            ]


def test_what_is_queued_alone_shows_what_sets_it_apart():
    tried = [experiment(f"{lr}", "queued", lr, SMOKE) for lr in (0.2, 0.3)]
    _, keys, _, *rows = shown(*tried, width=80)
    assert keys[2] == "lr"
    assert [row[2] for row in rows[:2]] == ["0.2", "0.3"]


PARAMS = "train:\n  runs:\n    a:\n      lr: 0.1\n"
STAGE = """\
import json, pathlib
from ruamel.yaml import YAML
lr = YAML().load(pathlib.Path("params.yaml"))["train"]["runs"]["a"]["lr"]
assert lr < 1, "diverged"
pathlib.Path("reports/train/a/metrics.json").write_text(json.dumps({"loss": 2 * lr}))
"""
STAGES = """\
stages:
  train:
    matrix: {run: "${train.runs}"}
    cmd: python stage.py ${item}
    deps: [stage.py]
    params: ["train.runs.${item.run}"]
    metrics: [{"reports/train/${item.run}/metrics.json": {cache: false}}]
"""


@pytest.mark.slow
def test_dvcs_own_experiments_finished_failed_and_queued(tmp_path, monkeypatch):
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
    lines = command(sys.executable, "-m", "lab.tools.experiments").splitlines()
    assert [line.split()[1:] for line in lines[2:3]] == [["0.1", "0.2"]], "the commit"
    assert sorted(line.split() for line in lines[3:]) == [
        ["apart", "success", "0.4", "0.8"],
        ["failed", "failed", "5"],
        ["finished", "success", "0.2", "0.4"],
        ["queued", "queued", "0.3"],
    ]
