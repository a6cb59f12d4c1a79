"""What bench_parallel measures on two virtual devices, and derives from its samples."""

import pytest
import torch

from lab.core.shared_params import BenchParams, DeviceParams
from lab.machine.devices import Devices
from lab.results.measurements import Measurement, Results
from stages.bench_parallel import __main__ as bench_parallel
from stages.bench_parallel import careless_wait, names, section
from stages.bench_parallel.params import ParallelParams, Params
from tests.made_up import measurements, metrics, write

PARAMS = Params(
    seed=0,
    devices=DeviceParams(cpu_threads=1),
    bench=BenchParams(rounds=8, aa_runs=1, min_sample_ms=1e-3),
    bench_parallel=ParallelParams(sizes=[4, 8], num_products=2),
)


@pytest.fixture(scope="module")
def measured() -> list[Measurement]:
    two = Devices("cpu-virtual", [torch.device("cpu")] * 2, threads=1)
    return bench_parallel.measure(PARAMS, two)


def test_every_arm_is_measured_at_every_size_and_gives_the_metrics(measured):
    results = Results(measured)
    assert set(results.arms(names.PRODUCTS)) == {
        names.FIRST,
        names.SECOND,
        names.ONE_AFTER_THE_OTHER,
        names.TOGETHER,
    }
    for arm in results.arms(names.PRODUCTS):
        assert [(m.x, len(m.values)) for m in results.series(names.PRODUCTS, arm)] == [
            (4, 8),
            (8, 8),
        ], arm
    [skipped] = results.skipped()
    assert (skipped.demo, skipped.arm) == (names.LONGER_SECOND, names.CURRENT_WAITED_FOR)
    made = bench_parallel.summarise(measurements("bench_parallel", "cuda"))
    assert set(bench_parallel.summarise(measured)) == set(made)


def test_waiting_for_the_current_gpu_misses_the_other_ones_longer_job(monkeypatch):
    """On a clock that knows how long each GPU has work; the second has twice as much."""
    gpus = [torch.device("cuda", 0), torch.device("cuda", 1)]
    now, busy_until = 0.0, dict.fromkeys(gpus, 0.0)

    def read_clock(devices: list[torch.device]) -> float:
        nonlocal now
        now = max([now, *(busy_until[device] for device in devices)])
        return now

    def together(jobs: list[tuple[torch.device, int]], workers: object, pool: object) -> None:
        for device, count in jobs:
            busy_until[device] = max(now, busy_until[device]) + count

    monkeypatch.setattr(careless_wait, "read_clock", read_clock)
    monkeypatch.setattr(careless_wait, "synchronize", lambda devices: None)
    monkeypatch.setattr(careless_wait, "together", together)
    monkeypatch.setattr(careless_wait, "workers_on", lambda devices: devices)
    monkeypatch.setattr(careless_wait, "products", lambda gpu, size, count, generator: (gpu, count))
    results = Results(careless_wait.measure_careless_wait(PARAMS, Devices("cuda", gpus, threads=1)))
    for arm, milliseconds in ((names.CURRENT_WAITED_FOR, 1e3), (names.BOTH_WAITED_FOR, 2e3)):
        [m] = results.series(names.LONGER_SECOND, arm)
        assert m.values == pytest.approx((milliseconds,) * 8), arm
        assert m.x == 8, "the largest size"


def test_the_speedup_is_that_of_together_over_one_after_the_other():
    m = metrics("bench_parallel", measurements("bench_parallel", "cpu-virtual"), "cpu-virtual")
    assert m[names.SPEEDUP] == m[names.SMALL_SPEEDUP] == 1.6
    assert m[names.SPEEDUP_BOUND] == 2.0


def test_the_page_tells_of_the_wait_for_one_gpu_where_there_are_two(tmp_path):
    write("bench_parallel", tmp_path, "cuda")
    findings = section.section(tmp_path / "bench_parallel").findings
    [sentence] = [text for text in findings if "longer job" in text]
    assert "reports 25.0 ms where both have finished after 50.0 ms" in sentence
    assert findings[0].startswith("Together is faster than one after the other on two GPUs with")
    assert "products of 400 rows: 1.6x (1.6 to 1.6), where 2.00x is the bound" in findings[0]
