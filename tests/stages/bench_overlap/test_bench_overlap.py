"""What bench_overlap measures on this machine's CPU, and derives from its samples."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lab.claims.rules import Verdict
from lab.core.shared_params import BenchParams, DeviceParams
from lab.machine.devices import Devices
from lab.nets.models import LENET_NAMES
from lab.results.measurements import Measurement, Results, again
from lab.timing.runner import merge
from stages.bench_overlap import __main__ as bench_overlap
from stages.bench_overlap.measure import gradients, names, non_blocking, one_start
from stages.bench_overlap.measure.fractions import WRONG, overlap_fraction, overlap_fractions
from stages.bench_overlap.measure.params import OverlapParams, Params
from stages.bench_overlap.measure.timeline import timelines
from tests.launch_bound import verdicts
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
    return [*times, *overlap_fractions(times), *timelines(PARAMS, ONE)]


def test_every_variant_of_a_cpu_is_timed_with_its_fraction_and_bandwidth(measured):
    results = Results(measured)
    assert set(results.variants(names.TIMES)) == {
        names.COMPUTE,
        names.COPIES,
        names.IN_TURN,
        names.BESIDE,
    }
    assert set(results.variants(names.OVERLAP)) == {names.IN_TURN, names.BESIDE}
    assert {m.x for m in measured if m.experiment == names.TIMES and m.values} == {16}
    assert {m.variant for m in results.skipped()} == {
        *names.ONLY_CUDA,
        names.RETURNS,
        names.ARRIVES,
    }
    spans = [
        m.variant.split()[1] for m in measured if m.experiment == names.TIMELINE + names.BESIDE
    ]
    assert sorted(spans) == [names.COMPUTING] * 4 + [names.COPYING] * 4
    assert any(m.variant == again(names.BESIDE) for m in measured), "the headline's noise control"
    made = bench_overlap.summarise(measurements("bench_overlap", "cuda"))
    assert set(bench_overlap.summarise(measured)) == set(made)


def test_a_bandwidth_is_that_of_the_results_in_the_time_of_the_copies(measured):
    results = Results(measured)
    [copies], [rate] = (results.series(d, names.COPIES) for d in (names.TIMES, names.BANDWIDTH))
    gigabytes = 4 * 16 * 16 * 4 / 1e9  # 4 results of float32
    assert rate.values[0] == pytest.approx(gigabytes / (copies.values[0] / 1e3))


def test_the_best_variant_is_held_against_the_same_copies_in_turn():
    for kind, best in (("cuda", names.TWO_STREAMS), ("cpu-virtual", names.BESIDE)):
        made = measurements("bench_overlap", kind)
        slower = [
            replace(m, values=tuple(2 * t for t in m.values))
            if m.variant in (names.IN_TURN, names.ONE_STREAM) and m.experiment == names.TIMES
            else m
            for m in made
        ]
        m = metrics("bench_overlap", slower, kind)
        assert m[names.BEST_VARIANT] == best
        assert m[names.OVERLAP_FRACTION] == pytest.approx((40 + 40 - 44) / 40), kind
        assert m[names.SPEEDUP] == pytest.approx(2 * (40 + 40) / 44, rel=1e-4), kind


def test_launch_bound_products_are_not_testable():
    """What Python launches one after the other overlaps with nothing, whatever a GPU could do."""
    no_overlap = {(names.TIMES, names.TWO_STREAMS): 80.0, (names.OVERLAP, names.TWO_STREAMS): 0.0}
    claims = ("C4", "C5")
    assert verdicts("bench_overlap", no_overlap, 50, *claims) == [Verdict.REFUTED] * 2
    assert verdicts("bench_overlap", no_overlap, 1.3, *claims) == [Verdict.NOT_TESTABLE] * 2


SECONDS = st.floats(0.01, 100)


def timed(**times: tuple[float, ...]) -> list[Measurement]:
    return [Measurement(names.TIMES, variant, 0, t, "ms", "cuda") for variant, t in times.items()]


@given(SECONDS, SECONDS, st.floats(0, 1))
def test_a_time_between_the_bounds_has_a_fraction_between_0_and_1(t1, t2, share):
    total = max(t1, t2) + (1 - share) * min(t1, t2)
    assert overlap_fraction([t1, t2], total) == pytest.approx(share, abs=1e-6)


def test_the_books_printed_times_are_no_overlap():
    assert overlap_fraction([0.5010, 2.3848], 2.1558) == pytest.approx(1.46, abs=0.005)
    assert overlap_fraction([0.1232, 2.1620], 3.1346) < 0  # the newer edition's
    times = {
        names.COMPUTE: 0.5010,
        names.PAGEABLE_COPIES: 2.3848,
        names.BOOK_COPIES: 2.0,
        names.BOOK: 2.1558,
    }
    [own, printed] = overlap_fractions(
        timed(**{variant: (t,) * 12 for variant, t in times.items()})
    )
    assert (own.variant, own.remark) == (names.BOOK, "")
    assert (printed.variant, printed.remark) == (names.AS_THE_BOOK, WRONG)
    assert printed.values[0] == pytest.approx(1.457, abs=1e-3)


def test_three_parts_overlap_fully_when_the_longest_is_all_one_sees():
    assert overlap_fraction([1, 2, 3], 3) == 1
    assert overlap_fraction([1, 2, 3], 6) == 0


def test_each_variant_is_held_against_its_own_parts():
    found = {m.variant: m for m in overlap_fractions(measurements("bench_overlap", "cuda"))}
    expected = {
        names.PAGEABLE: 0,
        names.BOOK: 0,
        names.ONE_STREAM: 0,
        names.TWO_STREAMS: 36 / 40,
        names.BOTH_DIRECTIONS: 70 / 80,
        names.AS_THE_BOOK: (40 + 200 - 100) / 40,
    }
    assert set(found) == set(expected)
    for variant, fraction in expected.items():
        assert found[variant].summary.median == pytest.approx(fraction, abs=1e-2), variant
        assert (found[variant].remark == WRONG) == (variant == names.AS_THE_BOOK), variant


def test_a_fraction_that_noise_takes_over_a_bound_is_not_called_wrong():
    times = {
        names.COMPUTE: (40.0,) * 12,
        names.COPIES: (40.0,) * 12,
        names.IN_TURN: (79.0, 81.0) * 6,
    }
    [fraction] = overlap_fractions(timed(**times))
    assert fraction.remark == ""
    assert min(fraction.values) < 0 < max(fraction.values)


def test_what_one_start_shows_is_not_called_wrong():
    one = {names.COMPUTE: (40.0,), names.COPIES: (40.0,), names.IN_TURN: (90.0,)}
    eight = {variant: t * 8 for variant, t in one.items()}
    assert [f.remark for f in overlap_fractions(timed(**one))] == [""]
    assert [f.remark for f in overlap_fractions(timed(**eight))] == [WRONG]


CPU = torch.device("cpu")
TWO_ROUNDS = Params.model_validate(
    PARAMS.model_dump() | {"bench": {**PARAMS.bench.model_dump(), "rounds": 2}}
)


def test_the_first_and_the_last_are_those_of_each_pass(monkeypatch):
    passes = [{"W1": 9.0, "b4": 9.0}, {"W1": 8.0, "b4": 2.0}, {"W1": 3.0, "b4": 6.0}]
    each = [dict.fromkeys(LENET_NAMES, 5.0) | ms for ms in passes]
    monkeypatch.setattr(gradients, "ready_times", lambda net, loss, count, device: each[:count])
    one = Devices("cpu-virtual", [CPU], threads=1)
    results = Results(gradients.measure_gradients(TWO_ROUNDS, one, images=512))
    first, last = (
        results.one(names.BACKWARD, variant).values
        for variant in (names.FIRST_READY, names.LAST_READY)
    )
    assert (first, last) == ((2.0, 3.0), (8.0, 6.0)), "without the pass that warms up"
    assert results.one(names.BACKWARD, names.LAST_READY).x == 512
    assert results.variants(names.GRADIENTS) == list(LENET_NAMES)
    assert results.one(names.GRADIENTS, "W1").values == (8.0, 3.0)


def test_a_pass_is_forward_and_backward_over_so_many_images(monkeypatch):
    seen = []
    loss = gradients.F.cross_entropy
    monkeypatch.setattr(
        gradients.F, "cross_entropy", lambda y_hat, y: seen.append(loss(y_hat, y)) or seen[-1]
    )
    variant = gradients.lenet_passes(CPU, seed=0)(6)
    variant()
    variant()
    assert torch.equal(seen[0], seen[1]), "the same images, and weights that stay"


GPU = Devices("cuda", [torch.device("cuda", 0)], threads=1)


class OnGpu:
    is_cuda = True

    def __len__(self) -> int:
        return 4


def test_a_call_returns_before_the_copies_are_there(monkeypatch):
    """The call takes a second, the copies end two seconds later."""
    now, done = 0.0, 0.0

    def read_clock(devices: list[torch.device]) -> float:
        nonlocal now
        now = max(now, done) if devices else now
        return now

    def fresh_copies(non_blocking: bool) -> list[torch.Tensor]:
        nonlocal now, done
        assert non_blocking
        now += 1
        done = now + 2
        return []

    monkeypatch.setattr(non_blocking, "read_clock", read_clock)
    work = SimpleNamespace(x=OnGpu(), fresh_copies=fresh_copies)
    results = Results(non_blocking.measure_return(work, GPU, rounds=3))
    assert results.one(names.CALL, names.RETURNS).values == pytest.approx((1e3,) * 3)
    assert results.one(names.CALL, names.ARRIVES).values == pytest.approx((3e3,) * 3)
