import math

import numpy as np
import pytest

from lab.results.measurements import (
    Measurement,
    Results,
    again,
    by_seed,
    controls,
    curve_of,
    line,
    measurements_of,
    rows_of,
    samples_at,
    skip,
)
from lab.results.reasons import Reason

MEASURED = [
    Measurement("copy", "pinned", 64, (1.5, 2.25, 2.0), "ms", "cuda", 0),
    Measurement("copy", "pinned", 32, (1.0,), "ms", "cuda", 0),
    Measurement("copy", "pageable", 64, (3.123456789, 4.0), "ms", "cuda", 4),
    skip("copy", "two GPUs", Reason("needs_gpus", "2"), "cuda"),
]


def test_rows_hold_every_sample_and_what_was_skipped():
    rows = rows_of(MEASURED)
    assert [row["value"] for row in rows] == [1.5, 2.25, 2.0, 1.0, 3.1234568, 4.0, ""]
    assert [row["remark"] for row in rows] == [""] * 6 + ["skipped: needs_gpus: 2"]


def test_measurements_come_back_from_rows_as_text():
    texts = [{key: str(value) for key, value in row.items()} for row in rows_of(MEASURED)]
    back = measurements_of(texts)
    assert back[:2] + back[3:] == MEASURED[:2] + MEASURED[3:]
    assert back[2].values == (3.1234568, 4.0)


def test_results_by_experiment_and_variant():
    results = Results(MEASURED)
    assert results.variants("copy") == ["pinned", "pageable"]
    assert [m.x for m in results.series("copy", "pinned")] == [32, 64]
    assert results.one("copy", "pinned", 64).summary.median == 2.0
    assert results.one("copy", "two GPUs") is None
    assert results.one("copy", "pinned", 48) is None
    assert [m.variant for m in results.skipped()] == ["two GPUs"]


def test_own_columns_tell_measurements_apart_and_come_back():
    small = Measurement("step", "ring", 2, (1.0, 2.0), "ms", columns={"net": "lenet", "images": 64})
    large = Measurement("step", "ring", 2, (5.0, 6.0), "ms", columns={"net": "resnet18"})
    rows = rows_of([small, large])
    assert [(row["net"], row["images"]) for row in rows[1:3]] == [("lenet", 64), ("resnet18", "")]
    back = Results(measurements_of(rows))
    assert back.measurements == [small, large]
    assert back.one("step", "ring", net="resnet18") == large
    assert back.series("step", "ring", images=64) == [small]


def test_a_control_is_compared_with_its_own_kind():
    def of(variant: str, net: str, *times: float) -> Measurement:
        return Measurement("step", variant, 0, times, columns={"net": net})

    found = [of("ring", "a", 6.0, 8.0), of(again("ring"), "a", 3.0, 2.0), of("ring", "b", 5.0)]
    ratios = [2.0, 4.0]  # each of one process
    assert [(m.columns["net"], its) for m, its in controls(found)] == [("a", ratios)]
    assert Results(found).variants("step") == ["ring"], "a control is no variant of its own"


def test_a_diverged_sample_is_an_empty_cell_and_left_out_of_the_curve():
    samples = [np.array([1.0, np.nan, 3.0]), np.array([np.nan, np.nan])]
    rows = rows_of(samples_at("sweep", "Adam", [1e-3, 1.0], samples))
    assert [row["value"] for row in rows] == [1.0, "", 3.0, "", ""]
    curve = curve_of(measurements_of(rows))
    assert curve.x.tolist() == [1e-3, 1.0]
    assert curve.diverged == pytest.approx([1 / 3, 1])
    assert curve.y[0] == 2.0
    assert math.isnan(curve.y[1])


def test_a_curve_has_the_band_of_the_middle_half():
    curve = curve_of(samples_at("demo", "a", [7], [np.arange(5.0)]), scale=10)
    assert (curve.low[0], curve.y[0], curve.high[0]) == (10, 20, 30)


def test_lines_have_one_sample_at_each_x_and_seeds_are_samples():
    assert [(m.x, m.values) for m in line("trace", "GD", [0, 1], [2, 3])] == [(0, (2,)), (1, (3,))]
    assert by_seed("ends", "GD", [4, 5]).values == (4, 5)
