"""What torch.compile cannot do on a machine ends in one line."""

import os
import subprocess
import sys

import pytest

from lab.core.errors import MachineError
from lab.machine.compiler_errors import compiler_errors
from lab.machine.devices import missing_compiler
from tests.helpers import ROOT, errors

COMPILES = """
import torch
from lab.core.process import run
from lab.machine.compiler_errors import compiler_errors

def main():
    with compiler_errors():
        torch.compile(torch.nn.Linear(4, 4))(torch.ones(2, 4))

raise SystemExit(run(main))
"""


@pytest.mark.slow
@pytest.mark.skipif(bool(missing_compiler()), reason=missing_compiler())
def test_a_cache_that_cannot_be_written_is_named_with_its_variable(project):
    (project / "file").touch()
    folder = str(project / "file" / "cache")  # below a file there are no folders
    ended = subprocess.run(
        [sys.executable, "-c", COMPILES],
        env=os.environ | {"PYTHONPATH": str(ROOT), "TORCHINDUCTOR_CACHE_DIR": folder},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == MachineError.exit_code, ended.stderr
    [line] = errors(ended)
    assert "TORCHINDUCTOR_CACHE_DIR" in line


def test_other_errors_stay_what_they_are():
    with pytest.raises(RuntimeError, match="of something else"), compiler_errors():
        raise RuntimeError("of something else")
