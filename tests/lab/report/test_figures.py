"""The house style of figures: whole or not at all, labels apart."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.report import figures


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
