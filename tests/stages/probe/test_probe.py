"""What probe reads, derives and writes, and how it ends."""

import os
import subprocess
import sys

from tests.helpers import ROOT, edit_params


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


def errors(result: subprocess.CompletedProcess[str]) -> list[str]:
    lines = result.stderr.splitlines()
    assert lines, "an error says something"
    assert all(line.startswith("ERROR: ") for line in lines), result.stderr
    return lines


def test_probe_checks_all_params_before_it_writes_anything(project):
    edit_params({"train.runs.lenet_1gpu.lr": 0, "data.timeout_s": 0, "extra": 1})
    result = run_stage("stages.probe")
    assert result.returncode == 2
    assert len(errors(result)) == 3
    assert not (project / "reports").exists()
