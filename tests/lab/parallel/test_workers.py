"""Jobs and the threads that do them."""

import threading

import pytest
import torch

from lab.parallel.workers import map_with_progress, parallel_map, thread_pool

CPU = torch.device("cpu")


def test_jobs_run_concurrently_with_the_first_in_the_calling_thread():
    meeting = threading.Barrier(2, timeout=30)

    def job(number: int) -> tuple[int, int]:
        meeting.wait()  # passes only if both jobs are running
        return number, threading.get_ident()

    with thread_pool(1, 1) as pool:
        (first, here), (second, elsewhere) = parallel_map(pool, job, [1, 2])
    assert (first, second) == (1, 2)
    assert here == threading.get_ident() != elsewhere


def test_failure_in_a_worker_is_not_lost():
    def fail_at(number: int) -> None:
        if number == 2:
            raise RuntimeError("broken")

    with thread_pool(1, 1) as pool, pytest.raises(RuntimeError, match="broken"):
        parallel_map(pool, fail_at, [1, 2])


@pytest.mark.parametrize("threads", [2, 3])  # at least one is not the number of cores
def test_a_pools_threads_use_the_requested_number_of_torch_threads(threads):
    with thread_pool(2, threads) as pool:
        jobs = [pool.submit(torch.get_num_threads) for _ in range(2)]
    assert [job.result() for job in jobs] == [threads] * 2


def test_concurrent_jobs_have_one_torch_thread_each():
    found = map_with_progress("test", lambda job: (job, torch.get_num_threads()), range(5), CPU)
    assert list(found.items()) == [(job, (job, 1)) for job in range(5)]
