"""The house style of figures: reproducible, self-contained, labels apart."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.report import figures


def draw(path):
    with figures.figure(path, 4, 3) as fig:
        axes = fig.add_subplot()
        axes.plot([1, 2], [3, 4])
        axes.bar([1], [2], hatch=figures.VIRTUAL_HATCH)
        axes.set_title("T < 5 & π")
    return path.read_bytes()


def test_figures_on_one_page_share_no_id_that_another_refers_to(tmp_path):
    ids = [
        set(re.findall(rb'(?:url\(#|href="#)([^")]+)', draw(tmp_path / name)))
        for name in ("a.svg", "b.svg")
    ]
    assert ids[0]
    assert not ids[0] & ids[1]


def test_a_figure_holds_text_and_no_date(tmp_path):
    svg = draw(tmp_path / "a.svg").decode()
    assert "T &lt; 5 &amp; π" in svg
    assert "dc:date" not in svg


def test_what_a_reader_plots_ends_at_the_axes_and_the_grid_needs_no_such_bound(tmp_path):
    with figures.figure(tmp_path / "a.svg", 4, 3) as fig:
        fig.add_subplot(xlim=(0, 1), ylim=(1, 1000), yscale="log").plot([-1, 2], [0.1, 1e4])
    paths = re.findall(r"<path [^>]*>", (tmp_path / "a.svg").read_text())
    [curve] = [path for path in paths if figures.COLOURS[0].lower() in path]
    grid = [path for path in paths if figures.FAINT.lower() in path]
    assert "clip-path" in curve
    assert len(grid) > 5
    assert not [path for path in grid if "clip-path" in path]


def test_an_error_while_drawing_leaves_the_old_file(tmp_path):
    old = draw(tmp_path / "a.svg")
    with pytest.raises(RuntimeError), figures.figure(tmp_path / "a.svg", 4, 3):
        raise RuntimeError
    assert (tmp_path / "a.svg").read_bytes() == old


@given(st.lists(st.floats(0, 100), min_size=1, max_size=6))
def test_spread_labels_keep_their_order_and_distance_under_the_top(positions):
    placed = figures.spread_labels(positions, gap=5, top=100)
    assert max(placed) <= 100
    order = sorted(range(len(positions)), key=positions.__getitem__)
    heights = [placed[i] for i in order]
    assert all(high - low >= 5 - 1e-9 for low, high in itertools.pairwise(heights))
