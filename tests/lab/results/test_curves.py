"""Curves, their bands and keys, and their way through a file."""

import numpy as np

from lab.core.files import read_rows, write_rows
from lab.results.curves import curve, curves_of, key, line, rows_of


def test_a_curve_is_the_median_and_the_middle_half():
    c = curve("demo", "a", [1, 2], [np.arange(5.0), np.array([7.0])])
    assert (c.low.tolist(), c.y.tolist(), c.high.tolist()) == ([1, 7], [2, 7], [3, 7])
    assert not c.diverged.any()


def test_samples_that_diverged_are_counted_and_left_out():
    samples = [np.array([1.0, np.nan, 3.0, np.nan]), np.array([np.nan, np.nan])]
    c = curve("demo", "a", [1, 2], samples, [np.array([0, 9, 0, 4]), np.array([3, 2])])
    assert c.y[0] == 2
    assert np.isnan(c.y[1])
    assert c.diverged.tolist() == [0.5, 1.0]
    assert c.diverged_step.tolist() == [4, 2]


def test_rows_survive_the_file_and_hold_no_nan(tmp_path):
    curves = [
        line("trace", "GD, rate 0.4", [0, 1], [0.25, -3.5]),
        curve(
            "sweep",
            "Adam",
            [1e-3, 1],
            [np.array([1.0, 2.0]), np.array([np.nan])],
            [np.array([0, 0]), np.array([5])],
        ),
    ]
    write_rows(tmp_path, rows_of(curves))
    assert "nan" not in (tmp_path / "rows.csv").read_text().lower()
    back = curves_of(read_rows(tmp_path / "rows.csv"))
    assert list(back) == ["trace", "sweep"]
    for c in curves:
        other = back[c.demo][c.series]
        for part in ("x", "y", "low", "high", "diverged", "diverged_step"):
            assert np.array_equal(getattr(c, part), getattr(other, part), equal_nan=True), part


def test_other_units():
    c = curve("d", "s", [1, 2], [np.arange(5.0), np.arange(3.0)]).scaled(x=10, y=100)
    assert (c.x.tolist(), c.y.tolist(), c.low.tolist()) == ([10, 20], [200, 100], [100, 50])


def test_a_key_has_no_dots_and_no_spaces():
    assert key("AdaGrad, rate 0.4") == "adagrad_rate_04"
    assert key("cosine, warm-up") == "cosine_warm_up"
    assert key("SGD") == "sgd"
