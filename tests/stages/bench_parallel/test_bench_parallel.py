"""What bench_parallel measures on two virtual devices, and derives from its samples."""

import threading

import pytest
import torch

from lab.core.shared_params import BenchParams, DeviceParams
from lab.machine.devices import Devices
from lab.results.measurements import Measurement, Results, again
from lab.timing.fresh_starts import merge
from stages.bench_parallel import __main__ as bench_parallel
from stages.bench_parallel.measure import names, one_start, products
from stages.bench_parallel.measure.params import ParallelParams, Params
from tests.made_up import measurements, metrics

PARAMS = Params(
    seed=0,
    devices=DeviceParams(cpu_threads=1),
    bench=BenchParams(starts=2, rounds=2, min_sample_ms=1e-3),
    bench_parallel=ParallelParams(sizes=[4, 8]),
)
TWO = Devices("cpu-virtual", [torch.device("cpu")] * 2, threads=1)


@pytest.fixture(scope="module")
def measured() -> list[Measurement]:
    starts = merge([one_start.measure_on(PARAMS, TWO, start) for start in range(2)])
    return [*starts, *bench_parallel.measure_once(TWO)]


def test_every_arm_has_a_sample_for_each_start_and_gives_the_metrics(measured):
    results, made = Results(measured), Results(measurements("bench_parallel", "cpu-virtual"))
    for demo in (names.PRODUCTS, names.WARM_UP, names.DEPENDENCIES, names.NOTES_RUN):
        assert set(results.arms(demo)) == set(made.arms(demo)), demo
    for arm in results.arms(names.PRODUCTS):
        found = [(m.x, len(m.values)) for m in results.series(names.PRODUCTS, arm)]
        assert found == [(4, 2), (8, 2)], arm
    skipped = {(m.demo, m.arm) for m in results.skipped()}
    assert skipped == {(m.demo, m.arm) for m in made.skipped()}
    assert set(bench_parallel.summarise(measured)) == set(
        bench_parallel.summarise(made.measurements)
    )


def test_the_arm_of_the_headline_takes_part_twice(measured):
    twice = [m.x for m in measured if m.arm == again(names.TOGETHER)]
    assert twice == [8], "at the largest size, whose speed-up is the headline"


def test_a_run_keeps_fifty_products():
    x = torch.rand(3, 3)
    kept = products.run(x)
    assert len(kept) == products.products_of_a_run() == 50
    for y in kept:
        torch.testing.assert_close(y, x @ x)


def test_only_the_wait_between_the_jobs_tells_one_after_the_other_from_together(monkeypatch):
    """Jobs that log what they do; together, neither ends before both have begun."""
    log: list[str] = []
    both_begun = threading.Barrier(2, timeout=30)

    def job(x: torch.Tensor) -> None:
        log.append("begin")
        if "together" in log:
            both_begun.wait()
        log.append("end")

    def run_arms(arms, *_):
        arms[names.ONE_AFTER_THE_OTHER]()
        log.append("together")
        arms[names.TOGETHER]()
        return dict.fromkeys(arms, (1.0,))

    monkeypatch.setattr(products, "run", job)
    monkeypatch.setattr(products, "time_arms", run_arms)
    one_size = PARAMS.model_copy(update={"bench_parallel": ParallelParams(sizes=[4])})
    products.measure_products(one_size, TWO, 0)
    assert log[:4] == ["begin", "end", "begin", "end"]
    assert log[4:] == ["together", "begin", "begin", "end", "end"]


def test_the_speedups_are_those_of_together():
    m = metrics("bench_parallel", measurements("bench_parallel", "cpu-virtual"), "cpu-virtual")
    assert m[names.SPEEDUP] == m[names.SMALL_SPEEDUP] == 1.8, "over one after the other"
    assert m[names.PARTS_SPEEDUP] == 1.6, "over both alone, added up"
    assert m[names.SPEEDUP_BOUND] == 2.0
