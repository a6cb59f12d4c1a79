"""The code that pages offer to take home runs, on whatever device there is."""

import subprocess
import sys

import pytest

from tests.helpers import ROOT

FILES = sorted((ROOT / "stages").glob("*/do_this.py"))


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parent.name)
def test_it_runs_without_the_lab(file, tmp_path):
    """In a folder that holds nothing of the project."""
    ended = subprocess.run(
        [sys.executable, "-I", "-W", "error::UserWarning", str(file)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
