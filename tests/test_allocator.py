import subprocess
import sys

import pytest

from tests.helpers import ROOT

FAULTS = """
import resource, sys, torch
from lab.allocator import keep_memory
if sys.argv[1] == "keep": assert keep_memory()
for _ in range(3): torch.rand(20_000_000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5): torch.rand(20_000_000)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's allocator")
def test_memory_is_not_paged_in_anew():
    faults = {
        way: int(subprocess.run([sys.executable, "-c", FAULTS, way], cwd=ROOT, capture_output=True, text=True,
                                check=True, timeout=120).stdout)
        for way in ("keep", "give back")
    }  # fmt: skip
    assert 20 * faults["keep"] < faults["give back"]
