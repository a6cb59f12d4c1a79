"""The experiments of `dvc exp run` as a list of what they changed and what came out."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from lab.tools.experiments import MOST_PARAMS, show
from tests.helpers import ROOT

PARAMS = "train:\n  runs:\n    a:\n      lr: 0.1\n    b:\n      lr: 0.1\n"
OF_A_PROFILE = "".join(f"      key{i}: {{0}}\n" for i in range(100))  # of b
STAGE = """\
import json, pathlib, sys
from ruamel.yaml import YAML
lr = YAML().load(pathlib.Path("params.yaml"))["train"]["runs"][sys.argv[1]]["lr"]
assert lr < 1, "diverged"
row = f"1,{2 * lr},0.5,2.0,0"
columns = "epoch,train_loss,test_accuracy,seconds,resumed"
folder = pathlib.Path(f"reports/train/{sys.argv[1]}")
(folder / "rows.csv").write_text(columns + chr(10) + row + chr(10))
recipe = {"num_epochs": 1, "train_images": 60000, "batch_size": 256}
about = recipe | {"num_devices": 1, "device_kind": "cpu"}
(folder / "conditions.json").write_text(json.dumps(about))
"""
STAGES = """\
stages:
  train:
    matrix: {run: "${train.runs}"}
    cmd: python stage.py ${item.run}
    deps: [stage.py]
    params: ["train.runs.${item.run}"]
    outs:
      - reports/train/${item.run}/rows.csv: {cache: false}
      - reports/train/${item.run}/conditions.json: {cache: false}
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
    for name, text in (
        ("params.yaml", PARAMS + OF_A_PROFILE.format(0)),
        ("stage.py", STAGE),
        ("dvc.yaml", STAGES),
    ):
        Path(name).write_text(text)
    for name in "ab":
        Path("reports/train", name).mkdir(parents=True)
    command("dvc", "repro", "--quiet")
    command("git", "add", ".")
    command("git", "commit", "--quiet", "-m", "first")

    show()
    assert "none since the last commit" in capsys.readouterr().out

    def run(name: str, lr: float, *how: str) -> None:
        command("dvc", "exp", "run", *how, "-n", name, "-S", f"train.runs.a.lr={lr}", "train@a")

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

    params = Path("params.yaml")
    params.write_text(params.read_text().replace(": 0\n", ": 1\n"))
    run("ended", 0.6)
    run("waits", 0.6, "--queue")
    capsys.readouterr()
    show()
    parts = re.split(r"^(\w+).*\n", capsys.readouterr().out, flags=re.MULTILINE)
    of = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert re.search(r"train.runs.a.lr +0.1 +0.6\n +other params: 100\n", of["ended"])
    assert "key" not in of["ended"], "of a run that it left alone"
    assert of["waits"].count("train.runs.") == MOST_PARAMS
    assert "other params: 93" in of["waits"]
