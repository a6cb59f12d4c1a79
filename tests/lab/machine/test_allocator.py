import subprocess
import sys

import pytest

from tests.helpers import ROOT

FAULTS = """
import resource, sys, torch
from lab.machine.allocator import keep_memory
from lab.nets.models import MODELS
from lab.training.strategies import Replicas
if sys.argv[1] == "keep": assert keep_memory()
torch.set_num_threads(1)
strategy = Replicas(MODELS["lenet"](torch.Generator().manual_seed(0)), [torch.device("cpu")])
X, y = torch.zeros(256, 28, 28, dtype=torch.uint8), torch.zeros(256, dtype=torch.int64)
for _ in range(4): strategy.step(X, y, 0.1, 256)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10): strategy.step(X, y, 0.1, 256)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
strategy.close()
"""


def faults(way: str) -> int:
    command = [sys.executable, "-c", FAULTS, way]
    result = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=120
    )
    return int(result.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's allocator")
def test_a_step_does_not_page_its_memory_in_anew():
    assert 5 * faults("keep") < faults("give back")
