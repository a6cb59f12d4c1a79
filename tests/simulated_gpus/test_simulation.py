"""Tests within the simulation: its own, the project's on GPUs, and those marked `gpu`."""

from pathlib import Path

import pytest

from tests.helpers import ROOT
from tests.simulated_gpus.simulation import HERE, Machine

pytestmark = pytest.mark.slow

TIMED = "test_one_stream_keeps_the_order"  # needs real races, which are not simulated
MARKED = [str(path) for path in ROOT.glob("tests/*/*/test_*.py") if "mark.gpu" in path.read_text()]


@pytest.mark.parametrize(
    ("gpus", "words"),
    [
        (2, [f"{HERE}/inside/test_devices.py"]),
        (4, [f"{HERE}/inside/test_project.py", f"{HERE}/inside/test_do_this.py"]),
        (4, [f"{HERE}/inside/test_training.py"]),
        (4, ["-m", "gpu", "-k", f"not {TIMED}", *MARKED]),
    ],
    ids=["devices", "project", "training", "marked gpu"],
)
def test_all_pass_within_the_simulation(built: Path, tmp_path: Path, gpus: int, words: list[str]):
    pytest_ = ("pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist")
    ended, _ = Machine(built, gpus).run(ROOT, tmp_path / "notes", *pytest_, *words)
    assert ended.returncode == 0, ended.stdout[-6000:] + ended.stderr[-2000:]
    assert "skipped" not in ended.stdout
