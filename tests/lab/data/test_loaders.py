import shutil
import subprocess
import sys

import psutil
import pytest
import torch
from torch.utils.data import Subset

from lab.data.loaders import book_images, loader
from tests.helpers import ROOT, outlived, write_data


@pytest.fixture
def forty(project):
    write_data(project / "data", train=70, test=10)
    return Subset(book_images(), range(40))


def test_a_loader_gives_each_image_once_scaled_and_reshuffles_each_epoch(forty):
    batches = loader(forty, 16, 0)
    first, second = (list(batches) for _ in range(2))
    assert [len(y) for _, y in first] == [16, 16, 8]
    assert first[0][0].shape == (16, 1, 28, 28)
    assert not torch.equal(first[0][0], second[0][0])
    given = sorted(X.sum().item() for batch, _ in first for X in batch)
    assert given == pytest.approx(sorted(X.sum().item() for X, _ in forty))


INTERRUPTED = """
import time
from multiprocessing.util import get_temp_dir
import torch
from torch.utils.data import TensorDataset
from lab.data.loaders import loader

folder = get_temp_dir()  # where workers have their sockets
batches = iter(loader(TensorDataset(torch.rand(6400, 64), torch.zeros(6400)), 8, 2))
next(batches)
print(folder, flush=True)
time.sleep(60)
"""


@pytest.mark.slow
def test_workers_end_after_their_process_is_killed_and_print_nothing():
    """As at Ctrl-C: the process is killed after the folder of its sockets was removed."""
    words = [sys.executable, "-c", INTERRUPTED]
    with subprocess.Popen(
        words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        shutil.rmtree(process.stdout.readline().strip())
        workers = psutil.Process(process.pid).children(recursive=True)
        assert len(workers) >= 2
        process.kill()
        assert process.communicate(timeout=60)[1] == ""
    assert not outlived(workers)


LATE = """
import os
import time
import torch
from torch.utils.data import TensorDataset
from lab.data.loaders import loader

os.register_at_fork(after_in_child=lambda: time.sleep(1))
batches = iter(loader(TensorDataset(torch.rand(64, 64), torch.zeros(64)), 8, 2))
print("started", flush=True)
time.sleep(60)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="there workers are not forked")
def test_workers_that_start_after_their_process_was_killed_end_as_well():
    words = [sys.executable, "-c", LATE]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        workers = psutil.Process(process.pid).children()
        assert len(workers) == 2
        process.kill()
    assert not outlived(workers)
