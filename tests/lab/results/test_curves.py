import numpy as np
import pytest

from lab.core.files import read_rows, write_rows
from lab.results.curves import curve, curves_of, key, line, rows_of


def test_curve_is_the_median_and_the_middle_half():
    c = curve("demo", "a", [1, 2], [np.arange(5.0), np.array([7.0])])
    assert (c.low.tolist(), c.y.tolist(), c.high.tolist()) == ([1, 7], [2, 7], [3, 7])
    assert not c.diverged.any()
    scaled = c.scaled(x=10, y=100)
    assert (scaled.x.tolist(), scaled.y.tolist()) == ([10, 20], [200, 700])
    assert (scaled.low.tolist(), scaled.high.tolist()) == ([100, 700], [300, 700])


def test_diverged_samples_are_counted_and_left_out():
    samples = [np.array([1.0, np.nan, 3.0, np.nan]), np.array([np.nan, np.nan])]
    c = curve("demo", "a", [1, 2], samples, [np.array([0, 9, 0, 4]), np.array([3, 2])])
    assert c.y.tolist() == pytest.approx([2, np.nan], nan_ok=True)
    assert c.diverged.tolist() == [0.5, 1.0]
    assert c.diverged_step.tolist() == [4, 2]


def test_rows_survive_the_file_and_hold_no_nan(tmp_path):
    samples = [np.array([1.0, 2.0]), np.array([np.nan])]
    curves = [
        line("trace", "GD, rate 0.4", [0, 1], [0.25, -3.5]),
        curve("sweep", "Adam", [1e-3, 1], samples, [np.array([0, 0]), np.array([5])]),
    ]
    write_rows(tmp_path, rows_of(curves))
    assert "nan" not in (tmp_path / "rows.csv").read_text().lower()
    back = curves_of(read_rows(tmp_path / "rows.csv"))
    assert list(back) == ["trace", "sweep"]
    for c in curves:
        other = back[c.experiment][c.series]
        for part in ("x", "y", "low", "high", "diverged", "diverged_step"):
            assert np.array_equal(getattr(c, part), getattr(other, part), equal_nan=True), part


@pytest.mark.parametrize(
    ("name", "in_key"),
    [("AdaGrad, rate 0.4", "adagrad_rate_04"), ("cosine, warm-up", "cosine_warm_up")],
)
def test_key_has_no_dots_and_no_spaces(name, in_key):
    assert key(name) == in_key
