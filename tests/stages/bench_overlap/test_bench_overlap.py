"""Measurements of bench_overlap on this machine's CPU, and findings from its samples."""

from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lab.core.shared_params import BenchParams, DeviceParams
from lab.machine.devices import Devices
from lab.results.measurements import Measurement, Results, again
from lab.timing.runner import merge
from stages.bench_overlap import __main__ as bench_overlap
from stages.bench_overlap.measure import overlap
from stages.bench_overlap.measure.names import AS_THE_BOOK, CONCURRENT
from stages.bench_overlap.measure.overlap import overlap_fraction, overlap_fractions
from stages.bench_overlap.measure.params import OverlapParams, Params
from stages.bench_overlap.measure.timeline import timelines
from stages.bench_overlap.page.figures import overlap_share, variant_rows
from tests.made_up import findings, measurements

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
    """Measure in two processes: one copies the results, one as much as takes a product's time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.cuda, "device_count", lambda: 0)
        each = [bench_overlap.measure(i, p, 256) for i, p in enumerate((PARAMS, BALANCED))]
    times = merge(each)
    return [*times, *overlap_fractions(times), *timelines(PARAMS, ONE)]


def test_every_cpu_variant_is_timed_with_its_fraction_and_bandwidth(measured):
    results, made = Results(measured), Results(measurements("bench_overlap", "cpu-virtual"))
    for experiment in ("times", "overlap", "bandwidth", "gradient ready", "backward pass"):
        assert set(results.variants(experiment)) == set(made.variants(experiment)), experiment
    assert {m.x for m in results.measurements if m.experiment == "times" and m.values} == {16}
    skipped = {(m.experiment, m.variant) for m in results.skipped()}
    assert skipped == {(m.experiment, m.variant) for m in made.skipped()}
    for activity in ("compute", "copy"):
        spans = results.series("timeline", CONCURRENT, activity=activity)
        assert sum(len(m.values) for m in spans) == 4
    assert any(m.variant == again(CONCURRENT) for m in measured), "the headline's noise control"


def test_bandwidth_is_bytes_of_results_over_time_of_copies(measured):
    results = Results(measured)
    [copies], [rate] = (results.series(d, "copying only") for d in ("times", "bandwidth"))
    gigabytes = 4 * 16 * 16 * 4 / 1e9  # 4 results of float32
    assert rate.values[0] == pytest.approx(gigabytes / (copies.values[0] / 1e3))


@pytest.mark.parametrize("kind", ["cuda", "cpu-virtual"])
def test_the_best_variant_is_compared_with_the_same_copies_made_sequentially(kind):
    found = findings("bench_overlap", measurements("bench_overlap", kind), kind)
    assert found["speedup"].value == pytest.approx(80 / 44, rel=1e-4)
    assert found["overlap_fraction"].value == pytest.approx((40 + 40 - 44) / 40)


def test_the_share_copied_during_products_is_relative_to_all_copying():
    work = {"compute": [(0.0, 2.0), (2.0, 2.0)], "copy": [(1.0, 2.0), (3.0, 2.0)]}
    spans = [
        Measurement(
            "timeline", CONCURRENT, start, (ms,), "ms", "cpu-virtual", columns={"activity": a}
        )
        for a, each in work.items()
        for start, ms in each
    ]
    assert overlap_share(Results(spans), CONCURRENT) == pytest.approx(3 / 4)


class OnGpu(list):
    is_cuda = True


def test_the_first_call_of_the_book_only_warms_up(monkeypatch):
    """A round reads the clock at the start, when the call returns, and when the copies are there.

    The first round takes 9 s in all, the others 1 s until the return and 3 s in all.
    """
    readings = iter([0, 8, 9, 10, 11, 13, 20, 21, 23])
    monkeypatch.setattr(overlap, "read_clock", lambda devices: next(readings))
    work = SimpleNamespace(x=OnGpu([0]), fresh_copies=lambda non_blocking: None)
    returns, arrives = overlap.measure_return(work, ONE, rounds=2)
    assert (returns.variant, returns.values) == ("call returns", (1000, 1000))
    assert (arrives.variant, arrives.values) == ("copies are there", (3000, 3000))


SECONDS = st.floats(0.01, 100)


def timed(**times: tuple[float, ...]) -> list[Measurement]:
    return [Measurement("times", variant, 0, t, "ms", "cuda") for variant, t in times.items()]


@given(SECONDS, SECONDS, st.floats(0, 1))
def test_a_time_between_the_bounds_has_a_fraction_between_0_and_1(t1, t2, share):
    total = max(t1, t2) + (1 - share) * min(t1, t2)
    assert overlap_fraction([t1, t2], total) == pytest.approx(share, abs=1e-6)


def test_the_books_printed_times_give_impossible_overlaps():
    assert overlap_fraction([0.5010, 2.3848], 2.1558) == pytest.approx(1.46, abs=0.005)
    assert overlap_fraction([0.1232, 2.1620], 3.1346) < 0  # the newer edition's
    times = {
        "computing only": 0.5010,
        "copying only, pageable memory": 2.3848,
        "copying only, non_blocking": 2.0,
        "the notes' non_blocking, one stream": 2.1558,
    }
    [own, printed] = overlap_fractions(
        timed(**{variant: (t,) * 12 for variant, t in times.items()})
    )
    assert (own.variant, printed.variant) == ("the notes' non_blocking, one stream", AS_THE_BOOK)
    assert printed.values[0] == pytest.approx(1.457, abs=1e-3)


def test_an_impossible_overlap_is_marked_in_the_table():
    """By the book's times, an H100's is 15.2, because they compare two kinds of memory."""
    made = measurements("bench_overlap", "cuda")
    others = [m for m in made if (m.experiment, m.variant) != ("overlap", AS_THE_BOOK)]
    for samples, mark in (((15.1, 15.2, 15.2, 15.3), ", impossible"), ((0.9, 1.0, 1.0, 1.1), "")):
        book = Measurement("overlap", AS_THE_BOOK, 0, samples, device_kind="cuda")
        [cells] = [c for c in variant_rows(Results([*others, book])) if c["name"] == AS_THE_BOOK]
        assert cells["overlap"].partition(",")[1:] == mark.partition(",")[1:]
