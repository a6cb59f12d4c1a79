"""What bench_overlap measures on this machine's CPU, and derives from its samples."""

from dataclasses import replace

import pytest
import torch

from lab.core.shared_params import BenchParams, DeviceParams
from lab.machine.devices import Devices
from lab.results.measurements import Measurement, Results, again
from lab.timing.fresh_starts import merge
from stages.bench_overlap import __main__ as bench_overlap
from stages.bench_overlap.measure import names, one_start
from stages.bench_overlap.measure.fractions import overlap_fractions
from stages.bench_overlap.measure.params import OverlapParams, Params
from tests.made_up import measurements, metrics

PARAMS = Params(
    seed=0,
    devices=DeviceParams(cpu_threads=1),
    bench=BenchParams(starts=2, rounds=1, min_sample_ms=1e-3),
    bench_overlap=OverlapParams(size=16, num_results=4, balanced=False),
)
BALANCED = PARAMS.model_copy(
    update={"bench_overlap": OverlapParams(size=16, num_results=4, balanced=True)}
)
ONE = Devices("cpu-virtual", [torch.device("cpu")], threads=1)


@pytest.fixture(scope="module")
def measured() -> list[Measurement]:
    """Two starts, one copying the results, one as much as takes as long as a product."""
    times = merge([one_start.measure_on(p, ONE, i) for i, p in enumerate((PARAMS, BALANCED))])
    return [*times, *overlap_fractions(times), *bench_overlap.measure_once(PARAMS, ONE)]


def test_every_arm_of_a_cpu_is_timed_with_its_fraction_and_bandwidth(measured):
    results = Results(measured)
    assert set(results.arms(names.TIMES)) == {
        names.COMPUTE,
        names.COPIES,
        names.IN_TURN,
        names.BESIDE,
    }
    assert set(results.arms(names.OVERLAP)) == {names.IN_TURN, names.BESIDE}
    assert {m.x for m in measured if m.demo == names.TIMES and m.values} == {16}
    assert {m.arm for m in results.skipped()} == {*names.ONLY_CUDA, names.RETURNS, names.ARRIVES}
    spans = [m.arm.split()[1] for m in measured if m.demo == names.TIMELINE + names.BESIDE]
    assert sorted(spans) == [names.COMPUTING] * 4 + [names.COPYING] * 4
    assert any(m.arm == again(names.BESIDE) for m in measured), "the headline's noise control"
    made = bench_overlap.summarise(measurements("bench_overlap", "cuda"))
    assert set(bench_overlap.summarise(measured)) == set(made)


def test_a_bandwidth_is_that_of_the_results_in_the_time_of_the_copies(measured):
    results = Results(measured)
    [copies], [rate] = (results.series(d, names.COPIES) for d in (names.TIMES, names.BANDWIDTH))
    gigabytes = 4 * 16 * 16 * 4 / 1e9  # 4 results of float32
    assert rate.values[0] == pytest.approx(gigabytes / (copies.values[0] / 1e3))


def test_the_best_arm_is_held_against_the_same_copies_in_turn():
    for kind, best in (("cuda", names.TWO_STREAMS), ("cpu-virtual", names.BESIDE)):
        made = measurements("bench_overlap", kind)
        slower = [
            replace(m, values=tuple(2 * t for t in m.values))
            if m.arm in (names.IN_TURN, names.ONE_STREAM) and m.demo == names.TIMES
            else m
            for m in made
        ]
        m = metrics("bench_overlap", slower, kind)
        assert m[names.BEST_ARM] == best
        assert m[names.OVERLAP_FRACTION] == pytest.approx((40 + 40 - 44) / 40), kind
        assert m[names.SPEEDUP] == pytest.approx(2 * (40 + 40) / 44, rel=1e-4), kind
