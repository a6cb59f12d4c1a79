"""The plots that questions share, read back from matplotlib."""

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lab.report import figures, plots
from lab.report.plots import Line, Span
from lab.results.findings import Finding, Over


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    """Return a function that draws a panel and returns its axes."""
    kept = []
    monkeypatch.setattr(Figure, "savefig", lambda fig, *_, **__: kept.append(fig))

    def axes_of(draw: plots.Draw) -> Axes:
        draw(tmp_path / "a.svg")
        [axes] = kept.pop().axes
        return axes

    return axes_of


def heights(axes: Axes) -> dict[str, float]:
    """Return the height of each row in data coordinates by the row's name, from top to bottom."""
    names = {text.get_text(): text.xy[1] for text in axes.texts if text.get_ha() == "right"}
    return dict(sorted(names.items(), key=lambda row: -axes.transData.transform((1, row[1]))[1]))


def numbers(axes: Axes) -> dict[float, tuple[str, float]]:
    """Return the number next to each row's dot or bar and its x position, by height."""
    beside = [text for text in axes.texts if text.get_ha() == "left"]
    return {text.xy[1]: (text.get_text(), text.xy[0]) for text in beside}


def pieces(bars) -> list[tuple[float, float, float]]:
    """Return each bar's start, end and middle height."""
    return [
        (bar.get_x(), bar.get_x() + bar.get_width(), bar.get_y() + bar.get_height() / 2)
        for bar in bars
    ]


def test_dots_and_their_intervals_are_in_the_rows_of_their_names(drawn):
    ends = {"first": (2.1, 1.5, 4.0), "second": (0.52, 0.25, 0.6), "third": (1.1, 0.9, 1.3)}
    rows = {name: Finding(*each, 8, Over.STARTS) for name, each in ends.items()}
    axes = drawn(plots.dots(rows, "Speed (×)"))
    at, beside = heights(axes), numbers(axes)
    assert list(at) == list(ends), "the first on top"
    for name, (value, low, high) in ends.items():
        of_row = [line for line in axes.lines if {*line.get_ydata()} == {at[name]}]
        assert [[*line.get_xdata()] for line in of_row] == [[low, high], [value]]
        assert beside[at[name]] == (str(value), high)
    [band] = axes.patches
    of_band = band.get_window_extent().transformed(axes.transData.inverted())
    assert [*of_band.intervalx] == pytest.approx([1 / 1.02, 1.02]), "2 % either way are too close"
    assert axes.get_xlim()[0] < 0.25 and axes.get_xlim()[1] > 4


def test_bars_are_medians_with_their_samples_in_the_rows_of_their_names(drawn):
    rows = {"first": [1.0, 9.0, 2.0], "second": [4.0], "third": [5.0, 100.0, 6.0, 6.5]}
    medians = {"first": 2.0, "second": 4.0, "third": 6.25}
    axes = drawn(plots.bars(rows, "Time (s)"))
    at, beside = heights(axes), numbers(axes)
    assert list(at) == list(rows), "the first on top"
    assert pieces(axes.patches) == [(0, medians[row], at[row]) for row in at]
    assert beside == {at[row]: (f"{medians[row]:.2f}", max(rows[row])) for row in at}
    dots = [(line.get_xdata(), line.get_ydata()) for line in axes.lines]
    assert [list(x) for x, _ in dots] == [rows["first"], rows["third"]], "one sample is its bar"
    for (_, y), row in zip(dots, ("first", "third"), strict=True):
        assert all(abs(y - at[row]) < 0.3), "within its bar"
    assert axes.get_xlim()[0] == 0 and axes.get_xlim()[1] > 100


def test_a_timeline_shows_each_piece_of_work_from_its_start_to_its_end(drawn):
    spans = {"one": [Span("computing", 1, 3)], "other": [Span("copying", 2, 7)]}
    axes = drawn(plots.timeline(spans, "Time (ms)"))
    at = heights(axes)
    assert list(at) == ["one", "other"]
    assert pieces(axes.patches) == [(1, 3, at["one"]), (2, 7, at["other"])]


def test_lines_have_bands_and_names_in_their_own_colour_and_order(drawn):
    x, low, high = [1, 2, 4], [1.0, 2.0, 2.5], [4.0, 6.0, 9.0]
    shown = [
        Line("middle", x, [2.0, 3.0, 5.0], low, high),
        Line("top", x, [1.0, 4.0, 8.0]),
        Line("bottom", x, [3.0, 2.0, 1.0], faint=True),
    ]
    axes = drawn(plots.lines(shown, "Epoch", "Loss"))
    assert [(*line.get_xdata(),) for line in axes.lines] == [(1, 2, 4)] * 3
    assert [[*line.get_ydata()] for line in axes.lines] == [line.y for line in shown]
    [band] = axes.collections
    corners = band.get_paths()[0].vertices
    ends = [corners[corners[:, 0] == each, 1] for each in x]
    assert [(min(y), max(y)) for y in ends] == list(zip(low, high, strict=True))
    upwards = sorted(axes.texts, key=lambda text: text.get_position()[1])
    assert [(text.get_text(), text.get_color()) for text in upwards] == [
        ("bottom", figures.FAINT_TEXT),
        ("middle", figures.TEXT_COLOURS[0]),
        ("top", figures.TEXT_COLOURS[1]),
    ]
    colours = [line.get_color() for line in axes.lines]
    assert colours == [*figures.COLOURS[:2], figures.FAINT]
