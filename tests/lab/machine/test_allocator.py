import subprocess
import sys

import pytest

from tests.helpers import ROOT

# Tensors of 40 MiB, each freed before the next: by default glibc keeps no block of over 32 MiB. How
# many of 16 were paged in anew, alone and in a thread.
FAULTS = """
import os, resource, sys, torch
from concurrent.futures import ThreadPoolExecutor
from lab.machine.allocator import disable_malloc_trim

PAGES = 40 * 2**20 // resource.getpagesize()

def faults(run):
    for count in (10, 16):  # the first ones find their place
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for _ in range(count): run(torch.ones, 10 * 2**20)
    return (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) // PAGES

torch.set_num_threads(1)
assert disable_malloc_trim()
print(faults(lambda function, size: function(size)))
with ThreadPoolExecutor(1) as pool:
    print(faults(lambda function, size: pool.submit(function, size).result()))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="glibc's allocator")
def test_freed_memory_is_not_paged_in_anew():
    result = subprocess.run(
        [sys.executable, "-c", FAULTS],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    # a small block in the way moves a tensor once in a while
    assert all(int(count) <= 4 for count in result.stdout.split()), result.stdout
