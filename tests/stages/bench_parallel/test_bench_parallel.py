"""What bench_parallel measures on two virtual devices, and derives from its samples."""

import threading

import pytest
import torch

from lab.claims.evidence import NotTestableError
from lab.claims.rules import Verdict
from lab.core.shared_params import BenchParams, DeviceParams
from lab.machine.devices import Devices
from lab.results.measurements import Measurement, Results, again
from lab.timing.runner import merge
from stages.bench_parallel import __main__ as bench_parallel
from stages.bench_parallel.measure import names, one_start, products, waits, warm_up
from stages.bench_parallel.measure.params import ParallelParams, Params
from stages.bench_parallel.page.claims import over_no_argument
from tests.launch_bound import verdicts
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


def test_every_variant_has_a_sample_for_each_start_and_gives_the_metrics(measured):
    results, made = Results(measured), Results(measurements("bench_parallel", "cpu-virtual"))
    for experiment in (names.PRODUCTS, names.WARM_UP, names.DEPENDENCIES, names.NOTES_RUN):
        assert set(results.variants(experiment)) == set(made.variants(experiment)), experiment
    for variant in results.variants(names.PRODUCTS):
        found = [(m.x, len(m.values)) for m in results.series(names.PRODUCTS, variant)]
        assert found == [(4, 2), (8, 2)], variant
    skipped = {(m.experiment, m.variant) for m in results.skipped()}
    assert skipped == {(m.experiment, m.variant) for m in made.skipped()}
    assert set(bench_parallel.summarise(measured)) == set(
        bench_parallel.summarise(made.measurements)
    )


def test_the_variant_of_the_headline_takes_part_twice(measured):
    twice = [m.x for m in measured if m.variant == again(names.TOGETHER)]
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

    def run_variants(variants, *_):
        variants[names.ONE_AFTER_THE_OTHER]()
        log.append("together")
        variants[names.TOGETHER]()
        return dict.fromkeys(variants, (1.0,))

    monkeypatch.setattr(products, "run", job)
    monkeypatch.setattr(products, "time_variants", run_variants)
    one_size = PARAMS.model_copy(update={"bench_parallel": ParallelParams(sizes=[4])})
    products.measure_products(one_size, TWO, 0)
    assert log[:4] == ["begin", "end", "begin", "end"]
    assert log[4:] == ["together", "begin", "begin", "end", "end"]


def test_the_speedups_are_those_of_together():
    m = metrics("bench_parallel", measurements("bench_parallel", "cpu-virtual"), "cpu-virtual")
    assert m[names.SPEEDUP] == m[names.SMALL_SPEEDUP] == 1.8, "over one after the other"
    assert m[names.SPEEDUP_BOUND] == 2.0


SLOW = [50.0] * 8


def test_equal_waits_do_not_tell_gpus_apart():
    with pytest.raises(NotTestableError):
        over_no_argument(SLOW, SLOW, SLOW, SLOW)


def test_launch_bound_products_are_not_testable():
    """Together is no faster: that is said of two GPUs only if there was work for them."""
    in_turn = {
        **{(names.PRODUCTS, variant): 1.0 for variant in (names.FIRST, names.SECOND)},
        **{
            (names.PRODUCTS, variant): 2.0
            for variant in (names.ONE_AFTER_THE_OTHER, names.TOGETHER)
        },
    }
    assert verdicts("bench_parallel", in_turn, 50, "C3a") == [Verdict.REFUTED]
    assert verdicts("bench_parallel", in_turn, 1.3, "C3a") == [Verdict.NOT_TESTABLE]
    assert verdicts("bench_parallel", in_turn, 1.3, "C1") == [Verdict.REFUTED], "a count is no time"


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
    monkeypatch.setattr(
        waits, "run_concurrently", lambda jobs, workers, pool: [job() for job in jobs]
    )
    monkeypatch.setattr(waits, "workers_on", lambda devices: devices)
    monkeypatch.setattr(waits, "random_matrices", lambda *_: [Matrix(gpu) for gpu in GPUS])
    monkeypatch.setattr(waits, "run", run)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda device=0: wait([GPUS[device]]))
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    results = Results(waits.measure_waits(PARAMS, Devices("cuda", GPUS, threads=1), 0))
    expected = {names.NO_ARGUMENT: 1e3, names.CURRENT_WAITED_FOR: 1e3, names.BOTH_WAITED_FOR: 2e3}
    for variant, milliseconds in expected.items():
        [m] = results.series(names.LONGER_SECOND, variant)
        assert m.values == pytest.approx((milliseconds,) * 2), variant
        assert m.x == 8, "the largest size"


ONE = Devices("cpu-virtual", [torch.device("cpu")] * 2, threads=1)


def test_the_first_and_the_second_run_are_apart_from_later_ones(monkeypatch):
    seconds = iter((3.0, 2.0, 1.0, 1.5))
    monkeypatch.setattr(warm_up, "_seconds", lambda _: next(seconds))
    results = Results(warm_up.measure_warm_up(PARAMS, ONE))
    found = {
        variant: results.one(names.WARM_UP, variant).values
        for variant in results.variants(names.WARM_UP)
    }
    assert found == {
        names.FIRST_RUN: (3e3,),
        names.SECOND_RUN: (2e3,),
        names.LATER_RUN: (1e3, 1.5e3),
    }


def test_the_first_run_comes_before_all_else_that_a_start_measures(monkeypatch):
    order: list[str] = []
    for name in ("measure_warm_up", "measure_products", "measure_dependencies", "measure_waits"):
        monkeypatch.setattr(one_start, name, lambda *_, called=name: order.append(called) or [])
    one_start.measure_on(PARAMS, ONE, 0)
    assert order[0] == "measure_warm_up"
    assert len(order) == 4
