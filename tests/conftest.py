"""Fixtures: a folder that looks like the project."""

import shutil
from pathlib import Path

import pytest
from hypothesis import settings

from tests.helpers import ROOT

# The same examples on every run, so that a red one repeats, and no time limit: shared machines are
# slow at times.
settings.register_profile("lab", derandomize=True, deadline=None)
settings.load_profile("lab")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with the committed params and profiles, as the working directory."""
    shutil.copy(ROOT / "profiles" / "laptop.yaml", tmp_path / "params.yaml")
    shutil.copytree(ROOT / "profiles", tmp_path / "profiles")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LAB_DATA_MIRROR", raising=False)
    return tmp_path
