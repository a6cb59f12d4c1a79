"""Who does which job, in which thread or stream."""

import contextlib
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest
import torch

from lab.parallel import workers as workers_room
from lab.parallel.workers import map_with_progress, run_concurrently, thread_pool, workers_on
from tests.helpers import ROOT

CPU = torch.device("cpu")
TWO = workers_on([CPU, CPU])


def test_jobs_of_virtual_devices_run_at_once():
    """The first in the calling thread."""
    meeting, threads = threading.Barrier(2, timeout=30), []

    def job() -> None:
        meeting.wait()  # passes only if both jobs are running
        threads.append(threading.get_ident())

    with thread_pool(2, 1) as pool:
        run_concurrently([job, job], TWO, pool)
    assert len(set(threads)) == 2
    assert threading.get_ident() in threads


def test_failure_in_a_worker_is_not_lost():
    def broken() -> None:
        raise RuntimeError("broken")

    with thread_pool(2, 1) as pool, pytest.raises(RuntimeError, match="broken"):
        run_concurrently([lambda: None, broken], TWO, pool)


PROGRAM = """
import psutil, torch
from lab.parallel.workers import thread_pool, run_concurrently, workers_on

torch.set_num_threads(1)
two, x = workers_on([torch.device("cpu")] * 2), torch.rand(512, 512)
with thread_pool(2, 1) as pool:
    run_concurrently([lambda: None] * 2, two, pool)
    before = psutil.Process().num_threads()
    run_concurrently([lambda: torch.mm(x, x)] * 2, two, pool)
    print(psutil.Process().num_threads() - before)
"""


@pytest.mark.slow
def test_worker_computes_with_its_own_threads_only():
    """In a new thread a product would start a team of as many threads as there are cores."""
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert int(result.stdout) <= 1, result.stderr  # the second worker's own thread may start late


def test_workers_of_gpus_are_streams_that_one_thread_fills(monkeypatch):
    """A GPU that is listed twice has two streams."""
    entered, threads = [], []

    @contextlib.contextmanager
    def stream(of_gpu):
        entered.append(of_gpu.device.index)
        yield

    def new_stream(device):
        return SimpleNamespace(device=device)

    monkeypatch.setattr(workers_room.torch.cuda, "Stream", new_stream)
    monkeypatch.setattr(workers_room.torch.cuda, "stream", stream)
    workers = workers_on([torch.device("cuda", index) for index in (0, 1, 0)])
    assert len({id(worker.stream) for worker in workers}) == 3
    with thread_pool(3, 1) as pool:
        run_concurrently([lambda: threads.append(threading.get_ident())] * 3, workers, pool)
    assert entered == [0, 1, 0]
    assert set(threads) == {threading.get_ident()}


def test_jobs_side_by_side_have_one_thread_each():
    found = map_with_progress("test", lambda job: (job, torch.get_num_threads()), range(5), CPU)
    assert list(found.items()) == [(job, (job, 1)) for job in range(5)]
