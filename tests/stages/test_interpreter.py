"""What stages/__init__.py does about DVC's choice of Python."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers import ROOT


@pytest.mark.skipif(
    not Path("/proc/self/cmdline").exists(), reason="finding DVC's interpreter needs /proc"
)
def test_a_stage_started_on_another_python_by_dvc_hands_over_to_dvcs(project):
    """A script called `dvc` on this interpreter starts a stage on one without the lab."""
    other = Path(sys.base_prefix) / "bin" / "python3"
    blank = [str(other), "-c", "import importlib.metadata as m; m.distribution('d2l-lab')"]
    if subprocess.run(blank, capture_output=True, check=False, cwd=project).returncode == 0:
        pytest.skip("no other Python here")
    dvc = project / "dvc"
    dvc.write_text(
        "import os, subprocess, sys\n"
        f"env = dict(os.environ, DVC_STAGE='probe', PYTHONPATH={str(ROOT)!r})\n"
        f"sys.exit(subprocess.call('{other} -m stages.probe', shell=True, env=env))\n"
    )
    result = subprocess.run(
        [sys.executable, str(dvc)], capture_output=True, text=True, check=False, timeout=120
    )
    assert result.returncode == 0, result.stderr
    assert (project / "reports" / "hardware.json").exists()
