"""A GPU full of others' memory: one line and exit code 8, from every kind of process."""

from pathlib import Path

import pytest

from lab.core.errors import SpaceError
from tests.helpers import edit_params, small_run
from tests.simulated_gpus.machines import prepare
from tests.simulated_gpus.simulation import Machine

pytestmark = pytest.mark.slow

IN = {  # by stage, where its work is done
    "schedules": "the command's own process",
    "bench_training": "a racing process",
    "parallelism": "a rank",
    "train ddp": "a rank that trains",
}


@pytest.mark.parametrize("words", IN, ids=lambda words: f"{words}: {IN[words]}")
def test_a_full_gpu_is_reported_in_one_line(built: Path, tmp_path: Path, words: str):
    work = tmp_path / "work"
    prepare(work, gpus=2)
    run = {"num_gpus": 2, "strategy": words.split()[-1]}
    edit_params({f"train.runs.{run['strategy']}": small_run(**run)}, path=work / "params.yaml")
    machine = Machine(built, gpus=2, mib=0.3)
    stage = f"stages.{words}".split()
    ended, _ = machine.run(work, tmp_path / "notes", *stage)
    assert ended.returncode == SpaceError.exit_code, ended.stderr
    [line] = [line for line in ended.stderr.splitlines() if line.startswith("ERROR")]
    assert "CUDA out of memory. Tried to allocate" in line
    assert "use a smaller batch or profile" in line
    assert "Traceback" not in ended.stderr
