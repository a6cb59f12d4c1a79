"""Fixtures: a folder that looks like the project."""

import shutil
from pathlib import Path

import pytest

from tests.helpers import ROOT


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with the committed params and profiles, as the working directory."""
    shutil.copy(ROOT / "profiles" / "laptop.yaml", tmp_path / "params.yaml")
    shutil.copytree(ROOT / "profiles", tmp_path / "profiles")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LAB_DATA_MIRROR", raising=False)
    return tmp_path
