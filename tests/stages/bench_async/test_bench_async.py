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
from stages.bench_async.measure import call_times, dependencies, names, one_start
from stages.bench_async.measure.params import AsyncParams, Params
from stages.bench_async.page import claims, section
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
    return one_start.measure_all(PARAMS, CPU, start=0)


def test_every_variant_of_every_experiment_is_measured_at_every_size(measured):
    results = Results(measured)
    expected = {
        names.FIRST_PRODUCT: ({names.NO_WARM_UP}, [4]),
        names.PRODUCT: ({names.CALL_RETURNS, names.RESULT_THERE}, [4, 8]),
        names.RUN_AHEAD: (
            {names.WAITING_ONCE, names.WAITING_EACH, names.CALLS_RETURN, names.SERIES_DONE},
            [1, 2],
        ),
        names.BOOK: (
            {
                names.BOOK_NUMPY,
                names.NOT_WAITED_FOR,
                names.WAITED_FOR,
                names.FAIR_NUMPY,
                names.FAIR_TORCH,
            },
            [4],
        ),
        names.BACK_END: ({names.ONES, names.RANDOM_PRODUCT}, [0]),
    }
    for experiment, (variants, sizes) in expected.items():
        assert set(results.variants(experiment)) - {names.WRONG_GPU} == variants, experiment
        for variant in variants:
            assert [m.x for m in results.series(experiment, variant)] == sizes, (
                experiment,
                variant,
            )
    assert names.NOTHING in results.variants(names.BLOCKER)
    for m in measured:
        once = m.experiment in (names.FIRST_PRODUCT, names.BOOK, names.BACK_END)
        assert len(m.values) == (0 if m.remark else 1 if once else 3), m


def test_the_stages_own_rows_give_its_metrics(measured):
    assert set(bench_async.summarise(merge([measured]))) == set(
        bench_async.summarise(measurements("bench_async", "cuda"))
    )


def test_a_call_returns_before_the_wait_and_its_result_is_there_after_it(monkeypatch):
    now, log = 0.0, []

    def spend(seconds: float, what: str) -> None:
        nonlocal now
        now += seconds
        log.append(what)

    monkeypatch.setattr(call_times.time, "perf_counter", lambda: now)
    monkeypatch.setattr(call_times, "synchronize", lambda devices: spend(4.0, "wait"))
    returns, finishes = call_times.call_times(lambda: spend(1.0, "call"), CPU, rounds=2)
    assert (returns, finishes) == ((1.0, 1.0), (5.0, 5.0))
    assert log == ["wait", "call", "wait"] * 2


def test_without_a_gpu_no_order_is_tested(measured):
    skipped = {m.variant for m in measured if m.remark and m.experiment == names.DEPENDENCIES}
    assert skipped == {names.IN_ORDER, names.UNORDERED}


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
def test_a_stream_keeps_the_order_and_one_that_does_not_wait_loses_it():
    gpu = Devices("cuda", [torch.device("cuda", 0)], threads=1)
    values = {m.variant: m.values for m in dependencies.measure_dependencies(gpu)}
    assert values == {names.IN_ORDER: (3.0,), names.UNORDERED: (2.0,)}


def test_a_queue_shows_as_a_call_that_returns_early():
    on_gpu, on_cpu = (
        metrics("bench_async", measurements("bench_async", kind), kind)
        for kind in ("cuda", "cpu-virtual")
    )
    assert ratio_of(on_gpu, names.RETURN_OVER_FINISH).median == pytest.approx(0.01)
    assert ratio_of(on_cpu, names.RETURN_OVER_FINISH).median == pytest.approx(1)
    assert on_gpu[names.BOOK_CLAIMS] == pytest.approx(200)
    assert on_cpu[names.BOOK_CLAIMS] == pytest.approx(2)
    assert on_cpu[names.NO_WARM_UP_OVER_STEADY] == pytest.approx(50, rel=1e-2)


def test_an_operation_costs_the_slope_of_its_series_waited_for_once_and_each_time():
    results = Results(measurements("bench_async", "cpu-virtual"))
    for variant, us in ((names.WAITING_ONCE, 2), (names.WAITING_EACH, 3)):
        assert section._us_per_operation(results, variant) == pytest.approx(us, rel=1e-2)


def test_order_without_a_race_is_not_testable():
    with pytest.raises(NotTestableError):
        claims.order_kept([3, 3], [2, 3])


def test_launch_bound_calls_are_not_testable():
    """Calls return when all is done, since each was over before the next was launched."""
    at_once = {
        (names.PRODUCT, names.CALL_RETURNS): 980.0,
        (names.PRODUCT, names.RESULT_THERE): 1000.0,
        (names.RUN_AHEAD, names.CALLS_RETURN): 198.0,
        (names.RUN_AHEAD, names.SERIES_DONE): 200.0,
    }
    assert verdicts("bench_async", at_once, 50, "B3") == [Verdict.REFUTED]
    assert verdicts("bench_async", at_once, 1.3, "B3") == [Verdict.NOT_TESTABLE]
    assert verdicts("bench_async", at_once, 1.3, "B4") == [Verdict.CONFIRMED], "order is no time"


def test_launch_bound_products_need_no_wait():
    """Ten take 120 us, twelve each; one of the smallest, little but its launch, takes 10 us."""
    no_wait = {(names.BOOK, names.WAITED_FOR): 0.2, (names.BOOK, names.NOT_WAITED_FOR): 0.2}
    short = {(names.BOOK, names.FAIR_TORCH): 0.12}
    assert verdicts("bench_async", no_wait, 50, "B2") == [Verdict.REFUTED]
    assert verdicts("bench_async", no_wait | short, 50, "B2") == [Verdict.NOT_TESTABLE]
