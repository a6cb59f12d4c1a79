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
from stages.bench_overlap.measure import gradients, overlap
from stages.bench_overlap.measure.names import AS_THE_BOOK, BESIDE, TWO_STREAMS
from stages.bench_overlap.measure.overlap import WRONG, overlap_fraction, overlap_fractions
from stages.bench_overlap.measure.params import OverlapParams, Params
from stages.bench_overlap.measure.timeline import timelines
from stages.bench_overlap.page.values import beside, on_gpu
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
    """Two processes, one copying the results, one as much as takes as long as a product."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.cuda, "device_count", lambda: 0)
        each = [bench_overlap.measure(i, p, 256) for i, p in enumerate((PARAMS, BALANCED))]
    times = merge(each)
    return [*times, *overlap_fractions(times), *timelines(PARAMS, ONE)]


def test_every_variant_of_a_cpu_is_timed_with_its_fraction_and_bandwidth(measured):
    results, made = Results(measured), Results(measurements("bench_overlap", "cpu-virtual"))
    for experiment in ("times", "overlap", "bandwidth", "gradient ready", "backward pass"):
        assert set(results.variants(experiment)) == set(made.variants(experiment)), experiment
    assert {m.x for m in results.measurements if m.experiment == "times" and m.values} == {16}
    skipped = {(m.experiment, m.variant) for m in results.skipped()}
    assert skipped == {(m.experiment, m.variant) for m in made.skipped()}
    for activity in ("compute", "copy"):
        spans = results.series("timeline", BESIDE, activity=activity)
        assert sum(len(m.values) for m in spans) == 4
    assert any(m.variant == again(BESIDE) for m in measured), "the headline's noise control"
    on_gpu = Results(measurements("bench_overlap", "cuda"))
    assert set(bench_overlap.summarise(results)) == set(bench_overlap.summarise(on_gpu))


def test_a_bandwidth_is_that_of_the_results_in_the_time_of_the_copies(measured):
    results = Results(measured)
    [copies], [rate] = (results.series(d, "copies alone") for d in ("times", "bandwidth"))
    gigabytes = 4 * 16 * 16 * 4 / 1e9  # 4 results of float32
    assert rate.values[0] == pytest.approx(gigabytes / (copies.values[0] / 1e3))


def test_the_best_variant_is_held_against_the_same_copies_in_turn():
    for kind, best in (("cuda", TWO_STREAMS), ("cpu-virtual", BESIDE)):
        made = measurements("bench_overlap", kind)
        slower = [
            replace(m, values=tuple(2 * t for t in m.values))
            if m.variant in ("one after the other", "pinned buffers, one stream")
            and m.experiment == "times"
            else m
            for m in made
        ]
        m = metrics("bench_overlap", slower, kind)
        assert m["best_arm"] == best
        assert m["overlap_fraction"] == pytest.approx((40 + 40 - 44) / 40), kind
        assert m["speedup"] == pytest.approx(2 * (40 + 40) / 44, rel=1e-4), kind


def test_the_page_has_the_numbers_that_only_a_gpu_shows():
    found = on_gpu(Results(measurements("bench_overlap", "cuda")))
    assert found["returns_s"] == pytest.approx(0.006, rel=0.01)
    assert found["arrives_s"] == pytest.approx(0.06, rel=0.01)
    assert found["notes"].median == pytest.approx(0, abs=0.01), "held against its own copies"
    assert found["as_the_book"].median == pytest.approx((40 + 200 - 100) / 40, abs=0.01)
    assert on_gpu(Results(measurements("bench_overlap", "cpu-virtual"))) == {}


def test_what_is_copied_beside_products_is_a_share_of_the_copying():
    work = {"compute": [(0.0, 2.0), (2.0, 2.0)], "copy": [(1.0, 2.0), (3.0, 2.0)]}
    spans = [
        Measurement("timeline", BESIDE, start, (ms,), "ms", "cpu-virtual", columns={"activity": a})
        for a, each in work.items()
        for start, ms in each
    ]
    assert beside(Results(spans), BESIDE) == pytest.approx(3 / 4)


def test_launch_bound_products_are_not_testable():
    """What Python launches one after the other overlaps with nothing, whatever a GPU could do."""
    no_overlap = {("times", TWO_STREAMS): 80.0, ("overlap", TWO_STREAMS): 0.0}
    claims = ("C4", "C5")
    assert verdicts("bench_overlap", no_overlap, 50, *claims) == [Verdict.REFUTED] * 2
    assert verdicts("bench_overlap", no_overlap, 1.3, *claims) == [Verdict.NOT_TESTABLE] * 2


SECONDS = st.floats(0.01, 100)


def timed(**times: tuple[float, ...]) -> list[Measurement]:
    return [Measurement("times", variant, 0, t, "ms", "cuda") for variant, t in times.items()]


@given(SECONDS, SECONDS, st.floats(0, 1))
def test_a_time_between_the_bounds_has_a_fraction_between_0_and_1(t1, t2, share):
    total = max(t1, t2) + (1 - share) * min(t1, t2)
    assert overlap_fraction([t1, t2], total) == pytest.approx(share, abs=1e-6)


def test_the_books_printed_times_are_no_overlap():
    assert overlap_fraction([0.5010, 2.3848], 2.1558) == pytest.approx(1.46, abs=0.005)
    assert overlap_fraction([0.1232, 2.1620], 3.1346) < 0  # the newer edition's
    times = {
        "compute alone": 0.5010,
        "pageable copies alone": 2.3848,
        "non_blocking copies alone": 2.0,
        "the book's non_blocking, one stream": 2.1558,
    }
    [own, printed] = overlap_fractions(
        timed(**{variant: (t,) * 12 for variant, t in times.items()})
    )
    assert (own.variant, own.remark) == ("the book's non_blocking, one stream", "")
    assert (printed.variant, printed.remark) == (AS_THE_BOOK, WRONG)
    assert printed.values[0] == pytest.approx(1.457, abs=1e-3)


def test_three_parts_overlap_fully_when_the_longest_is_all_one_sees():
    assert overlap_fraction([1, 2, 3], 3) == 1
    assert overlap_fraction([1, 2, 3], 6) == 0


def test_each_variant_is_held_against_its_own_parts():
    found = {m.variant: m for m in overlap_fractions(measurements("bench_overlap", "cuda"))}
    expected = {
        "pageable memory, blocking": 0,
        "the book's non_blocking, one stream": 0,
        "pinned buffers, one stream": 0,
        TWO_STREAMS: 36 / 40,
        "pinned buffers, both directions at once": 70 / 80,
        AS_THE_BOOK: (40 + 200 - 100) / 40,
    }
    assert set(found) == set(expected)
    for variant, fraction in expected.items():
        assert found[variant].summary.median == pytest.approx(fraction, abs=1e-2), variant
        assert (found[variant].remark == WRONG) == (variant == AS_THE_BOOK), variant


def test_a_fraction_that_noise_takes_over_a_bound_is_not_called_wrong():
    times = {
        "compute alone": (40.0,) * 12,
        "copies alone": (40.0,) * 12,
        "one after the other": (79.0, 81.0) * 6,
    }
    [fraction] = overlap_fractions(timed(**times))
    assert fraction.remark == ""
    assert min(fraction.values) < 0 < max(fraction.values)


def test_what_one_start_shows_is_not_called_wrong():
    one = {"compute alone": (40.0,), "copies alone": (40.0,), "one after the other": (90.0,)}
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
        results.one("backward pass", variant).values
        for variant in ("first gradient ready", "last gradient ready")
    )
    assert (first, last) == ((2.0, 3.0), (8.0, 6.0)), "without the pass that warms up"
    assert results.one("backward pass", "last gradient ready").x == 512
    assert results.variants("gradient ready") == list(LENET_NAMES)
    assert results.one("gradient ready", "W1").values == (8.0, 3.0)


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

    monkeypatch.setattr(overlap, "read_clock", read_clock)
    work = SimpleNamespace(x=OnGpu(), fresh_copies=fresh_copies)
    results = Results(overlap.measure_return(work, GPU, rounds=3))
    assert results.one(
        "the book's non_blocking call, nothing else at work", "call returns"
    ).values == pytest.approx((1e3,) * 3)
    assert results.one(
        "the book's non_blocking call, nothing else at work", "copies are there"
    ).values == pytest.approx((3e3,) * 3)
