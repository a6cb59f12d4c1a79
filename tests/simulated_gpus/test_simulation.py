"""The simulation's own tests, within it."""

from pathlib import Path

import pytest

from tests.helpers import ROOT
from tests.simulated_gpus.simulation import HERE, Machine

pytestmark = pytest.mark.slow


def test_the_simulated_devices_behave_as_cudas(built: Path, tmp_path: Path):
    words = ("pytest", "-q", "-p", "no:cacheprovider", str(HERE / "inside"))
    ended, _ = Machine(built, gpus=2).run(ROOT, tmp_path / "notes", *words)
    assert ended.returncode == 0, ended.stdout[-6000:] + ended.stderr[-2000:]
    assert "passed" in ended.stdout
