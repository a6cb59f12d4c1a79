"""What the waits for GPUs report, on stand-ins that know how long each GPU has work."""

import pytest
import torch

from lab.machine.devices import Devices
from lab.results.measurements import Results
from stages.bench_parallel.measure import names, waits
from tests.stages.bench_parallel.test_bench_parallel import PARAMS

GPUS = [torch.device("cuda", 0), torch.device("cuda", 1)]


def test_the_wait_without_an_argument_misses_the_other_gpus_longer_job(monkeypatch):
    """On a clock that knows how long each GPU has work; the second has twice as much."""
    now, busy_until = 0.0, dict.fromkeys(GPUS, 0.0)

    def wait(devices: list[torch.device]) -> None:
        nonlocal now
        now = max([now, *(busy_until[device] for device in devices)])

    def read_clock(devices: list[torch.device]) -> float:
        wait(devices)
        return now

    class Matrix:
        def __init__(self, device: torch.device) -> None:
            self.device = device

    def run(x: Matrix) -> None:
        busy_until[x.device] = max(now, busy_until[x.device]) + 1

    monkeypatch.setattr(waits, "read_clock", read_clock)
    monkeypatch.setattr(waits, "synchronize", wait)
    monkeypatch.setattr(waits, "together", lambda jobs, workers, pool: [job() for job in jobs])
    monkeypatch.setattr(waits, "workers_on", lambda devices: devices)
    monkeypatch.setattr(waits, "random_matrices", lambda *_: [Matrix(gpu) for gpu in GPUS])
    monkeypatch.setattr(waits, "run", run)
    monkeypatch.setattr(waits, "_two_streams", lambda *_: [])
    monkeypatch.setattr(torch.cuda, "synchronize", lambda device=0: wait([GPUS[device]]))
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    results = Results(waits.measure_waits(PARAMS, Devices("cuda", GPUS, threads=1), 0))
    expected = {names.NO_ARGUMENT: 1e3, names.CURRENT_WAITED_FOR: 1e3, names.BOTH_WAITED_FOR: 2e3}
    for arm, milliseconds in expected.items():
        [m] = results.series(names.LONGER_SECOND, arm)
        assert m.values == pytest.approx((milliseconds,) * 2), arm
        assert m.x == 8, "the largest size"


@pytest.mark.parametrize("waits_for_all", [True, False])
def test_streams_are_counted_before_and_after_the_wait(monkeypatch, waits_for_all):
    at_work: set[object] = set()

    class Stream:
        def __init__(self, device: torch.device) -> None:
            assert device == GPUS[0]

        def query(self) -> bool:
            return self not in at_work

    class Worker:
        def __init__(self, device: torch.device, stream: Stream) -> None:
            self.stream = stream

        def run(self, job: object) -> None:
            at_work.add(self.stream)

    def synchronize(device: torch.device) -> None:
        if waits_for_all:
            at_work.clear()
        else:
            at_work.pop()

    monkeypatch.setattr(torch.cuda, "Stream", Stream)
    monkeypatch.setattr(torch.cuda, "synchronize", synchronize)
    monkeypatch.setattr(waits, "Worker", Worker)
    monkeypatch.setattr(waits, "random_matrices", lambda *_: [torch.eye(2)])
    one_gpu = Devices("cuda-shared", [GPUS[0], GPUS[0]], threads=1)
    results = Results(waits.measure_waits(PARAMS, one_gpu, 0))
    before, after = (
        results.one(names.STREAMS, arm).values
        for arm in (names.BEFORE_THE_WAIT, names.AFTER_THE_WAIT)
    )
    assert (before, after) == ((2,), (0 if waits_for_all else 1,))
    assert {m.demo for m in results.skipped()} == {names.LONGER_SECOND}, "it needs two GPUs"
