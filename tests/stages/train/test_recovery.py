"""A run killed by SIGKILL at a random moment resumes, and ends with the weights and losses of an
undisturbed run. `python -m bench.kills` kills many.

LAB_KILL_SEED sets the moments.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from lab.core.errors import NotThereError
from lab.core.files import read_rows
from lab.core.params import load
from lab.results.documents import read_results
from stages.train.measure.one_run import train_run
from stages.train.measure.params import Params
from tests.helpers import ROOT, edit_params, outlived, run_stage, small_run, write_data

pytestmark = pytest.mark.slow

RUNS_ON_TWO = ("by_ddp", "by_hand")
TINY = small_run(batch_size=32, num_epochs=20)
RUNS = {
    "one": TINY | {"seeds": 2, "num_epochs": 10},
    "by_hand": TINY | {"num_gpus": 2},
    "by_ddp": TINY | {"num_gpus": 2, "strategy": "ddp"},
}


@pytest.fixture
def runs(project):
    write_data(project / "data", train=600, test=100)
    edit_params({"train.runs": RUNS})
    return project


def start(name: str) -> subprocess.Popen[str]:
    """Start a run; one process saves after each step, several save after each epoch."""
    program = (
        "import runpy, sys; from lab.training import loop; loop.SAVE_EVERY_S = 0.0;"
        f" sys.argv[1:] = [{name!r}]; runpy.run_module('stages.train', run_name='__main__')"
    )
    alone = "strategy" not in RUNS[name]
    how = ["-c", program] if alone else ["-m", "stages.train", name]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, *how],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def wait_for_an_epoch(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    while "epoch 2/" not in process.stdout.readline():
        assert process.poll() is None


def kill(process: subprocess.Popen[str], rng: random.Random) -> None:
    """Kill one of the run's processes after a checkpoint, and check that all of them end."""
    wait_for_an_epoch(process)
    time.sleep(rng.uniform(0, 0.3))
    family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
    # the launcher or a rank, but not the fork server between them
    rng.choice([each for each in family if each.ppid() != process.pid]).kill()
    process.communicate(timeout=60)
    assert process.returncode in (8, -signal.SIGKILL), "it had ended before it was killed"
    assert not outlived(family)


def finish(name: str) -> str:
    ended = run_stage("stages.train", name)
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


def results(name: str) -> tuple[bytes, list[str]]:
    folder = Path("reports/train") / name
    rows = [",".join(row.split(",")[:4]) for row in (folder / "rows.csv").read_text().splitlines()]
    return Path(f"models/{name}.pt").read_bytes(), rows


@pytest.mark.parametrize(
    ("name", "number"),
    [("one", signal.SIGTERM), ("by_hand", signal.SIGINT), ("by_ddp", signal.SIGTERM)],
)
def test_a_run_ends_on_the_first_signal_with_one_line(runs, name, number):
    edit_params({f"train.runs.{name}.num_epochs": 10_000})
    process = start(name)
    wait_for_an_epoch(process)
    family = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert errors == "ERROR: interrupted; the same command resumes\n"
    assert not outlived(family)
    assert list(Path(".lab/checkpoints").glob("*/*.pt"))
    assert not Path("models").exists()
    folder = Path("reports/train") / name
    assert read_rows(folder / "rows.csv")[0]["epoch"] == 1, "the curve so far, for who watches it"
    with pytest.raises(NotThereError, match="did not end"):
        read_results(folder)


def test_killed_runs_end_like_undisturbed_ones(runs):
    """Results also agree across processes, and by hand as by ddp."""
    rng = random.Random(int(os.environ.get("LAB_KILL_SEED", "0")))  # noqa: S311  (moments, not secrets)
    for name in ("one", "by_hand"):
        train_run(name, load(Params))
    finish("by_ddp")
    undisturbed = {name: results(name) for name in RUNS}
    assert undisturbed["by_ddp"][0] == undisturbed["by_hand"][0]
    by_ddp, by_hand = (
        json.loads(Path(f"reports/train/{name}/conditions.json").read_text())["machine"]
        for name in RUNS_ON_TWO
    )
    assert by_ddp == by_hand, "one machine, whatever a rank was told"
    for name in ("one", "by_ddp"):
        for path in (Path(f"models/{name}.pt"), *Path(f"reports/train/{name}").iterdir()):
            path.unlink()
        kill(start(name), rng)
        assert "resumes after" in finish(name)
        assert results(name) == undisturbed[name], name
        checkpoints = list(Path(".lab/checkpoints").glob("*/"))
        assert not checkpoints, "a run that has its results keeps none"
