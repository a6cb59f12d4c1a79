"""Real processes of one run: they find each other, and losing one ends in a one-line error."""

import os
import re
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from lab.core.errors import MachineError
from lab.parallel.process_group import own_rank
from tests import forked
from tests.helpers import (
    ROOT,
    edit_params,
    errors,
    in_namespaces,
    needs_namespaces,
    outlived,
    python,
    run_stage,
    small_run,
    write_data,
)

LONG = small_run(strategy="ddp", num_gpus=2, batch_size=32, num_epochs=10_000)


@pytest.fixture
def two_ranks(project):
    write_data(project / "data", train=600, test=100)
    runs = {"long": LONG, "short": small_run(strategy="ddp", num_gpus=2)}
    edit_params({"train.runs": runs, "train.timeout_s": 2})


def train(run: str, python: str | Path = sys.executable) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [python, "-m", "stages.train", run],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )


def wait_for_an_epoch(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """Wait for an epoch; return the ranks in order, which are the fork server's children."""
    assert process.stdout is not None
    for line in process.stdout:
        if " epoch " in line:
            below = psutil.Process(process.pid).children()
            [server] = [each for each in below if each.children()]
            return sorted(server.children(), key=lambda rank: rank.pid)
    pytest.fail(f"no epoch: {process.communicate()[1]}")


def end(process: subprocess.Popen[str], ranks: list[psutil.Process]) -> tuple[int, list[str]]:
    """Wait until all processes have ended; return the exit code and the error lines."""
    errors = process.communicate(timeout=120)[1].splitlines()
    assert not outlived(ranks)
    return process.returncode, errors


def checkpoints() -> list[str]:
    return sorted(path.name for path in Path().glob(".lab/checkpoints/*/*.pt"))


@pytest.mark.slow
def test_a_dead_rank_is_named_and_the_run_resumes(two_ranks):
    process = train("long")
    ranks = wait_for_an_epoch(process)
    ranks[1].kill()
    code, errors = end(process, ranks)
    assert code == 8
    assert [line for line in errors if line.startswith("ERROR: rank 1 was killed (signal 9)")]
    kept = checkpoints()
    assert len(kept) in (1, 2)

    process = train("long", forked.on_path() / "python")
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(2)]
    assert re.search(rf"resumes after {int(kept[-1][:5])} epochs and 0 steps", lines[1])
    process.kill()
    process.wait()


@pytest.mark.slow
def test_a_second_launcher_of_a_run_is_refused(two_ranks):
    process = train("long")
    ranks = wait_for_an_epoch(process)
    other = run_stage("stages.train", "long")
    assert other.returncode == 7
    assert "another process trains this very run" in other.stderr
    process.kill()
    process.wait()
    assert not outlived(ranks), "ranks end with their launcher"


@pytest.mark.slow
def test_a_silent_rank_ends_the_run_after_the_timeout(two_ranks):
    process = train("long")
    ranks = wait_for_an_epoch(process)
    ranks[1].suspend()
    code, errors = end(process, ranks)
    assert code == 7
    assert [line for line in errors if line.startswith("ERROR: rank 1 did not answer in time")]
    assert checkpoints()


def test_rank_variables_of_a_cluster_are_ignored_without_torchrun(monkeypatch):
    """Kubeflow sets RANK and WORLD_SIZE in every container, even for a single process."""
    for name, value in {"RANK": "3", "WORLD_SIZE": "8"}.items():
        monkeypatch.setenv(name, value)
    assert own_rank() is None
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "of torchrun's")
    assert own_rank() == 3


@pytest.mark.slow
@needs_namespaces
def test_ranks_that_cannot_connect_report_it_immediately(two_ranks):
    ended = python("-m", "stages.train", "short", through=in_namespaces("true"), timeout=60)
    assert ended.returncode == MachineError.exit_code
    [line] = errors(ended)
    assert "127.0.0.1" in line
