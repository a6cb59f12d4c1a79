"""The house style of figures: written whole or not at all, labels apart."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from lab.report import figures, plots


def test_an_error_while_drawing_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.svg"
    path.write_text("an earlier figure")
    with pytest.raises(RuntimeError), figures.figure(path, 4, 3):
        raise RuntimeError
    assert path.read_text() == "an earlier figure"


@given(st.lists(st.floats(0, 100), min_size=1, max_size=6))
def test_spread_labels_keep_their_order_and_distance_under_the_top(positions):
    placed = figures.spread_labels(positions, gap=5, top=100)
    assert max(placed) <= 100
    order = sorted(range(len(positions)), key=positions.__getitem__)
    heights = [placed[i] for i in order]
    assert all(high - low >= 5 - 1e-9 for low, high in itertools.pairwise(heights))


def test_fonts_fall_back_to_sans_serif_and_names_end_at_the_axes(tmp_path):
    path = tmp_path / "a.svg"
    plots.bars({"one\ntwo": [1.0], "three": [2.0]}, "Time (s)")(path)
    svg = path.read_text()
    assert all(family.endswith("sans-serif") for family in re.findall("font-family: ([^;]*)", svg))
    lines = [re.search(f'<text style="([^"]*)" x="([^"]*)".*>{n}<', svg) for n in NAMES]
    assert all("text-anchor: end" in line[1] for line in lines)
    assert len({line[2] for line in lines}) == 1


NAMES = ("one", "two", "three")


@pytest.mark.parametrize("last", [2, 3, 4, 10, 100])
def test_an_axis_of_whole_numbers_has_whole_ticks(tmp_path, last):
    path = tmp_path / "a.svg"
    epochs = range(1, last + 1)
    plots.lines([plots.Line("", epochs, [1.0] * last)], "Epoch", "Loss")(path)
    ticks = re.findall(r"text-anchor: middle[^>]*>([\d.]+)<", path.read_text())
    assert len(ticks) >= 2
    assert all(tick.isdecimal() for tick in ticks)


def test_a_preview_has_the_size_that_sites_expect_and_reproducible_bytes(tmp_path):
    def draw(path):
        with figures.figure(path, *figures.CARD) as fig:
            fig.add_subplot().plot([1, 2])
        return path.read_bytes()

    assert draw(tmp_path / "a.png") == draw(tmp_path / "b.png")
    with Image.open(tmp_path / "a.png") as picture:
        assert picture.size == (1200, 630)
        assert picture.text == {}, "no date, no software"
