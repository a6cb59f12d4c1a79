"""The code that pages offer to take home runs, on whatever device there is."""

import os

import pytest

from tests import forked
from tests.helpers import ROOT

FILES = sorted((ROOT / "stages").glob("*/do_this.py"))
STRICT = f"""
import sys, warnings
sys.path.remove({str(ROOT)!r})
warnings.simplefilter("error", UserWarning)
"""


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parent.name)
def test_it_runs_without_the_lab(file, tmp_path):
    """In a folder that holds nothing of the project."""
    (tmp_path / "do_this.py").write_text(STRICT + file.read_text())
    ended = forked.run("do_this", cwd=tmp_path, env=os.environ)
    assert ended.returncode == 0, ended.stderr
