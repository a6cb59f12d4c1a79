"""Params that change while they are used, in folders and surroundings that are odd."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lab.core import exit_codes, fail_points
from lab.core.fail_points import Plan
from stages.train.__main__ import main
from tests.helpers import ROOT, edit_params, run_stage, small_run, write_data

# blanks, quotes, other alphabets, a command, a line's end, and what looks like an option
ODD_FOLDER = Path("a b") / 'żółw\'s "图" 🐢' / "$(touch pwned); `touch pwned`" / "-x\ny"
RUN = small_run(batch_size=64, num_epochs=1)


@pytest.fixture
def runs(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with little data and the run `one`; no run is named on the command line yet."""
    write_data(project / "data", train=600, test=100)
    edit_params({"train.runs": {"one": RUN}})
    monkeypatch.setattr(sys, "argv", ["stages.train", "one"])
    return project


def weights() -> bytes:
    return Path("models/one.pt").read_bytes()


def test_params_edited_while_a_stage_runs_fail_it_at_its_end(runs, monkeypatch, within):
    """In a folder with an odd name, where a stage runs as in any other.

    DVC reads the params of a stage when it has ended: it would take the results for those of the
    new values, and never make these.
    """
    folder = runs / ODD_FOLDER
    folder.mkdir(parents=True)
    for name in ("data", "params.yaml", "profiles"):
        (runs / name).rename(folder / name)
    monkeypatch.chdir(folder)
    process = subprocess.Popen(
        [sys.executable, "-m", "stages.train", "one"],
        env=os.environ | {"PYTHONPATH": str(ROOT), "LAB_FAIL_POINT": "write models/*=stop"},
        stderr=subprocess.PIPE,
        text=True,
    )
    with within(60):
        _, status = os.waitpid(process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status), "it has trained, and is about to write its weights"
    edit_params({"train.runs.one.lr": 0.1})
    process.send_signal(signal.SIGCONT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 2
    assert said.startswith("ERROR: params.yaml: changed while this ran, and DVC would take")
    assert said.endswith("; run the same command again\n")
    metrics = json.loads(Path("reports/train/one/metrics.json").read_bytes())
    assert metrics["lr"] == 0.2, "the old value"
    assert exit_codes.run(main) == 0, "the same command"
    assert json.loads(Path("reports/train/one/metrics.json").read_bytes())["lr"] == 0.1
    assert not list(runs.rglob("pwned"))


def test_params_of_others_may_be_edited_meanwhile(runs, monkeypatch):
    """Of another run, and how processes meet, which decides no result."""

    class Editing(Plan):
        def reach(self, moment: str) -> None:
            if moment.startswith("renamed models"):
                edit_params({"train.runs.two": RUN, "train.distributed.timeout_s": 7, "seed": 0})

    monkeypatch.setattr(fail_points, "_PLAN", Editing("renamed models=term"))
    assert exit_codes.run(main) == 0


def test_a_run_whose_params_changed_starts_afresh(runs, monkeypatch):
    """Though a signal stopped it at a step, which left a checkpoint."""
    edit_params({"train.runs.one.lr": 0.1})
    assert exit_codes.run(main) == 0
    afresh = weights()
    edit_params({"train.runs.one.lr": 0.2})
    monkeypatch.setattr(fail_points, "_PLAN", Plan("step *:5=term"))
    assert exit_codes.run(main) == 128 + signal.SIGTERM
    assert len(list(Path(".lab/checkpoints").glob("*/*.pt"))) == 1
    monkeypatch.setattr(fail_points, "_PLAN", None)
    edit_params({"train.runs.one.lr": 0.1})
    assert exit_codes.run(main) == 0
    assert weights() == afresh


def test_what_the_environment_says_of_cores_and_gpus_is_obeyed_and_recorded(project):
    result = run_stage("stages.probe", OMP_NUM_THREADS="1", CUDA_VISIBLE_DEVICES="")
    assert result.returncode == 0, result.stderr
    facts = json.loads(Path("reports/hardware.json").read_bytes())
    assert (facts["cpu"]["omp_num_threads"], facts["cpu"]["usable_cores"]) == ("1", 1)
    assert (facts["accelerator"]["count"], facts["accelerator"]["names"]) == (0, None)


@pytest.mark.parametrize("key", ["train.runs.one.net", "seed", "train.distributed.rdzv_endpoint"])
def test_a_command_for_a_value_is_refused_and_not_run(runs, capsys, key):
    edit_params({key: "$(touch pwned); `touch pwned`"})
    assert exit_codes.run(main) == 2
    assert "touch pwned" in capsys.readouterr().err
    assert not (runs / "pwned").exists()
