"""What bench_async measures on this machine's CPU, and derives from its samples."""

import pytest
import torch

from lab.claims.evidence import NotTestableError
from lab.claims.rules import Verdict
from lab.core.shared_params import BenchParams, DeviceParams
from lab.machine.devices import Devices
from lab.report.benchmarks import ratio_of
from lab.results.measurements import Measurement, Results
from lab.timing.runner import merge
from stages.bench_async import __main__ as bench_async
from stages.bench_async.measure import back_end, calls
from stages.bench_async.measure.params import AsyncParams, Params
from stages.bench_async.page import claims, values
from tests.launch_bound import verdicts
from tests.made_up import measurements, metrics

CPU = Devices("cpu-virtual", [torch.device("cpu")], threads=1)
PARAMS = Params(
    seed=0,
    devices=DeviceParams(cpu_threads=1),
    bench=BenchParams(starts=1, rounds=3, min_sample_ms=1e-3),
    bench_async=AsyncParams(sizes=[4, 8], counts=[1, 2], book_size=4),
)


@pytest.fixture(scope="module")
def measured() -> list[Measurement]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.cuda, "device_count", lambda: 0)
        return bench_async.measure(0, PARAMS, calls.SIZE)


def test_every_variant_of_every_experiment_is_measured_at_every_size(measured):
    results, made = Results(measured), Results(measurements("bench_async", "cpu-virtual"))
    sizes = {"product": [4, 8], "run_ahead": [1, 2], "first_product": [4], "book": [4]}
    for experiment in ("first_product", "product", "run_ahead", "book", "back_end"):
        variants = results.variants(experiment)
        assert set(variants) == set(made.variants(experiment)), experiment
        for variant in variants:
            found = [m.x for m in results.series(experiment, variant)]
            assert found == sizes.get(experiment, [0]), (experiment, variant)
    assert set(results.variants("blocker")) >= set(made.variants("blocker"))
    for m in measured:
        once = m.experiment in ("first_product", "book", "back_end")
        assert len(m.values) == (0 if m.remark else 1 if once else 3), m


def test_the_first_product_of_a_process_comes_first(measured):
    assert (measured[0].experiment, measured[0].variant) == ("first_product", "no warm-up")


def test_the_stages_own_rows_give_its_metrics(measured):
    made = Results(measurements("bench_async", "cuda"))
    assert set(bench_async.summarise(Results(merge([measured])))) == set(
        bench_async.summarise(made)
    )


def test_a_call_returns_before_the_wait_and_its_result_is_there_after_it(monkeypatch):
    now, log = 0.0, []

    def spend(seconds: float, what: str) -> None:
        nonlocal now
        now += seconds
        log.append(what)

    monkeypatch.setattr(calls.time, "perf_counter", lambda: now)
    monkeypatch.setattr(calls, "synchronize", lambda devices: spend(4.0, "wait"))
    returns, finishes = calls.call_times(lambda: spend(1.0, "call"), CPU, rounds=2)
    assert (returns, finishes) == ((1.0, 1.0), (5.0, 5.0))
    assert log == ["wait", "call", "wait"] * 2


def test_without_a_gpu_no_order_is_tested(measured):
    skipped = {m.variant for m in measured if m.remark and m.experiment == "dependencies"}
    assert skipped == {"one stream", "another stream, no event"}


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
def test_a_stream_keeps_the_order_and_one_that_does_not_wait_loses_it():
    gpu = torch.device("cuda", 0)
    assert back_end.z_on(torch.cuda.current_stream(gpu)).tolist() == [[3.0, 3.0]]
    assert back_end.z_on(torch.cuda.Stream(gpu)).tolist() == [[2.0, 2.0]]


def test_a_queue_shows_as_a_call_that_returns_early():
    on_gpu, on_cpu = (
        metrics("bench_async", measurements("bench_async", kind), kind)
        for kind in ("cuda", "cpu-virtual")
    )
    assert ratio_of(on_gpu, "return_over_finish").median == pytest.approx(0.01)
    assert ratio_of(on_cpu, "return_over_finish").median == pytest.approx(1)
    assert on_gpu["book_claims"] == pytest.approx(200)
    assert on_cpu["book_claims"] == pytest.approx(2)
    assert on_cpu["no_warm_up_over_steady"] == pytest.approx(50, rel=1e-2)


def test_waiting_after_each_operation_costs_what_it_takes_longer():
    """2 µs for an operation of a series that is waited for once, 3 if after each."""
    results = Results(measurements("bench_async", "cpu-virtual"))
    assert values.waiting_s(results) == pytest.approx(1e-6, rel=1e-2)


def test_order_without_a_race_is_not_testable():
    with pytest.raises(NotTestableError):
        claims.order_kept([3, 3], [2, 3])


def test_launch_bound_calls_are_not_testable():
    """Calls return when all is done, since each was over before the next was launched."""
    at_once = {
        ("product", "call returns"): 980.0,
        ("product", "result there"): 1000.0,
        ("run_ahead", "calls return"): 198.0,
        ("run_ahead", "all done"): 200.0,
    }
    assert verdicts("bench_async", at_once, 50, "B3") == [Verdict.REFUTED]
    assert verdicts("bench_async", at_once, 1.3, "B3") == [Verdict.NOT_TESTABLE]
    assert verdicts("bench_async", at_once, 1.3, "B4") == [Verdict.CONFIRMED], "order is no time"


def test_launch_bound_products_need_no_wait():
    """Ten take 120 us, twelve each; one of the smallest, little but its launch, takes 10 us."""
    no_wait = {("book", "torch, waited for"): 0.2, ("book", "torch, not waited for"): 0.2}
    short = {("book", "torch, products alone"): 0.12}
    assert verdicts("bench_async", no_wait, 50, "B2") == [Verdict.REFUTED]
    assert verdicts("bench_async", no_wait | short, 50, "B2") == [Verdict.NOT_TESTABLE]
