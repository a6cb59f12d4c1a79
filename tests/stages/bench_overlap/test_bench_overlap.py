"""What bench_overlap derives from its samples."""

import pytest

from lab.results.measurements import Measurement
from stages.bench_overlap import __main__ as bench_overlap
from stages.bench_overlap import overlap
from tests.made_up import measurements, metrics


def test_each_way_is_held_against_its_own_parts_and_the_books_comparison_is_marked_wrong():
    made = measurements("bench_overlap", "cuda")
    found = {m.arm: m for m in made if m.demo == "overlap"}
    assert found[overlap.ONE_STREAM].summary.median == pytest.approx(0, abs=1e-2)
    assert found[overlap.TWO_STREAMS].summary.median == pytest.approx(0.9, abs=1e-2)
    assert found[overlap.BOOK].remark == found[overlap.TWO_STREAMS].remark == ""
    assert found[overlap.AS_THE_BOOK].summary.median == pytest.approx(3.5, abs=1e-2), (
        "(40 + 200 - 100) / 40"
    )
    assert found[overlap.AS_THE_BOOK].remark.startswith("wrong: ")
    m = metrics("bench_overlap", made, "cuda")
    assert (m["best_way"], m["wrong_fractions"]) == (overlap.TWO_STREAMS, 1)
    assert m["overlap_fraction"] == pytest.approx(0.9, abs=1e-2)


def test_the_books_printed_times_are_marked_wrong():
    times = {
        overlap.COMPUTE: 0.5010,
        overlap.PAGEABLE_COPIES: 2.3848,
        overlap.BOOK_COPIES: 2.0,
        overlap.BOOK: 2.1558,
    }
    made = [Measurement("seconds", name, 0, (t,) * 12, "s", "cuda") for name, t in times.items()]
    [own, printed] = bench_overlap.fractions(made)
    assert own.remark == ""
    assert printed.values[0] == pytest.approx(1.457, abs=1e-3)
    assert printed.remark == "wrong: outside [0, 1], so this is no overlap"


def test_a_machine_without_a_gpu_skips_the_gpus_ways_with_a_reason():
    made = measurements("bench_overlap", "cpu-virtual")
    m = metrics("bench_overlap", made, "cpu-virtual")
    assert (m["best_way"], m["skipped"]) == (overlap.BESIDE, len(overlap.ONLY_CUDA))


def test_a_fraction_that_noise_takes_over_a_bound_is_not_called_wrong():
    times = {
        overlap.COMPUTE: (40.0,) * 12,
        overlap.COPIES: (40.0,) * 12,
        overlap.IN_TURN: (79.0, 81.0) * 6,
    }
    made = [Measurement("seconds", n, 0, t, "ms", "cpu-virtual") for n, t in times.items()]
    [fraction] = bench_overlap.fractions(made)
    assert fraction.remark == ""
    assert min(fraction.values) < 0 < max(fraction.values)
