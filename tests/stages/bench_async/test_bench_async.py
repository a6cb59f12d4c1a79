"""Measurements of bench_async on this machine's CPU, and verdicts from made-up samples."""

from dataclasses import replace

import pytest
import torch

from lab.claims.rules import Verdict
from lab.claims.verdicts import judge
from lab.core.shared_params import BenchParams, DeviceParams
from lab.machine.devices import Devices
from lab.results.diff import Taken
from lab.results.measurements import Measurement, Results
from lab.timing.bench import OVER_LAUNCH
from stages.bench_async import __main__ as bench_async
from stages.bench_async.measure import back_end, calls
from stages.bench_async.measure.params import AsyncParams, Params
from tests.helpers import claim_of
from tests.made_up import conditions_of, findings, measurements, samples

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


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
def test_one_stream_keeps_the_order_and_a_second_without_a_wait_loses_it():
    gpu = torch.device("cuda", 0)
    assert back_end.z_on(torch.cuda.current_stream(gpu)).tolist() == [[3.0, 3.0]]
    assert back_end.z_on(torch.cuda.Stream(gpu)).tolist() == [[2.0, 2.0]]


def verdict(times: dict[tuple[str, str], float], over_launch: float, claim: str) -> Verdict:
    """Judge a claim for a GPU with these times; work takes `over_launch` times its launch."""
    made = [
        replace(m, values=samples(times.get((m.experiment, m.variant), over_launch)))
        if (m.experiment, m.variant) in times or m.experiment == OVER_LAUNCH
        else m
        for m in measurements("bench_async", "cuda")
    ]
    conditions = conditions_of("bench_async", made, "cuda")
    found = findings("bench_async", made, "cuda")
    return judge(claim_of(claim), Taken(found, conditions)).verdict


def test_launch_bound_calls_are_not_testable():
    """Calls return when all work is done, since each ends before the next is launched."""
    at_once = {
        ("product", "call returns"): 980.0,
        ("product", "result there"): 1000.0,
        ("run_ahead", "calls return"): 198.0,
        ("run_ahead", "all done"): 200.0,
    }
    assert verdict(at_once, 50, "B3") is Verdict.REFUTED
    assert verdict(at_once, 1.3, "B3") is Verdict.NOT_TESTABLE
    assert verdict(at_once, 1.3, "B4") is Verdict.CONFIRMED, "order is no time"


def test_launch_bound_products_need_no_wait():
    """Ten take 120 µs, 12 each; one of the smallest, hardly more than a launch, takes 10 µs."""
    no_wait = {("book", "torch, waited for"): 0.2, ("book", "torch, not waited for"): 0.2}
    short = {("book", "torch, products alone"): 0.12}
    assert verdict(no_wait, 50, "B2") is Verdict.REFUTED
    assert verdict(no_wait | short, 50, "B2") is Verdict.NOT_TESTABLE
