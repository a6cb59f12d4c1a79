"""Who does which job, in which thread or stream."""

import contextlib
import subprocess
import sys
import threading
from itertools import product

import pytest
import torch

from lab.parallel import device_workers
from lab.parallel.device_workers import Worker, side_by_side, thread_pool, together, workers_on
from tests.helpers import ROOT

CPU = torch.device("cpu")


def test_jobs_of_virtual_devices_run_at_the_same_time_the_first_in_the_calling_thread():
    meeting, threads = threading.Barrier(2, timeout=30), []

    def job() -> None:
        meeting.wait()  # passes only if both jobs are running
        threads.append(threading.get_ident())

    two = workers_on([CPU, CPU])
    with thread_pool(2, 1) as pool:
        together([job, job], two, pool)
    assert len(set(threads)) == 2
    assert threading.get_ident() in threads


def test_a_failure_in_a_worker_is_not_lost():
    def broken() -> None:
        raise RuntimeError("broken")

    two = workers_on([CPU, CPU])
    with thread_pool(2, 1) as pool, pytest.raises(RuntimeError, match="broken"):
        together([lambda: None, broken], two, pool)


def test_a_worker_computes_with_its_own_threads_only():
    """In a new thread a product would start a team of as many threads as there are cores."""
    program = (
        "import psutil, torch; from lab.parallel.device_workers import *;"
        " torch.set_num_threads(1)\n"
        "two = workers_on([torch.device('cpu')] * 2); x = torch.rand(512, 512)\n"
        "with thread_pool(2, 1) as pool:\n"
        "    together([lambda: None] * 2, two, pool); before = psutil.Process().num_threads()\n"
        "    together([lambda: torch.mm(x, x)] * 2, two, pool);"
        " print(psutil.Process().num_threads() - before)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert int(result.stdout) <= 1, result.stderr  # the second worker's own thread may start late


class FakeStream:
    """Stands for a CUDA stream where there is no CUDA."""

    def __init__(self, device: torch.device) -> None:
        self.device = device


def test_workers_of_gpus_are_streams_that_one_thread_fills(monkeypatch):
    log = []

    @contextlib.contextmanager
    def stream(entered):
        log.append(entered.device.index)
        yield

    monkeypatch.setattr(device_workers.torch.cuda, "Stream", FakeStream)
    monkeypatch.setattr(device_workers.torch.cuda, "stream", stream)
    found = workers_on([torch.device("cuda", 0), torch.device("cuda", 1), torch.device("cuda", 0)])
    assert len({id(worker.stream) for worker in found}) == 3, "a GPU listed twice has two streams"
    threads = []
    with thread_pool(3, 1) as pool:
        together([lambda: threads.append(threading.get_ident())] * 3, found, pool)
    assert log == [0, 1, 0]
    assert set(threads) == {threading.get_ident()}


def test_a_cpu_worker_runs_its_job_where_it_is_called():
    done = []
    Worker(CPU).run(lambda: done.append(threading.get_ident()))
    assert done == [threading.get_ident()]


def test_jobs_side_by_side_keep_their_order_and_compute_with_one_thread_each():
    found = side_by_side("test", lambda job: (job, torch.get_num_threads()), range(5), CPU)
    assert list(found.items()) == [(job, (job, 1)) for job in range(5)]
    arms = product("ab", [1, 2])
    found = side_by_side("test", lambda job: (*job, torch.get_num_threads()), arms, CPU)
    assert found == {(arm, s): (arm, s, 1) for arm in "ab" for s in (1, 2)}
