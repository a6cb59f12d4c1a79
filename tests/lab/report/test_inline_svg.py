"""Figures inlined in a page: text stays text; colours and fonts are the page's."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from lab.report import figures
from lab.report.inline_svg import inlined
from lab.report.language import locale


def draw(path):
    """Draw a figure with every kind of element: text, lines, hatches, dots, an image."""
    with figures.figure(path, figures.WIDTH, 3) as fig:
        axes = fig.add_subplot()
        axes.plot([1, 2, 3], [3.14159, -4, 5], "o-")
        axes.bar([1], [2], hatch=figures.VIRTUAL_HATCH)
        axes.imshow(np.eye(4), extent=(0, 1, 0, 1), cmap="gray")
        axes.set_title("T < 5 & π")
        axes.text(2, 2, "white", color=figures.PAPER)
    return path.read_text()


def texts(svg):
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def test_text_stays_text_and_takes_the_pages_colours_and_fonts(tmp_path):
    drawn = draw(tmp_path / "a.svg")
    shown = inlined(drawn, 'a "figure" & more')
    assert texts(shown) == texts(drawn)
    assert 'aria-label="a &quot;figure&quot; &amp; more"' in shown
    for gone in ("font-family", "xlink", "<metadata", "figure_1", figures.INK, figures.COLOURS[0]):
        assert gone not in shown
    ElementTree.fromstring(shown)  # noqa: S314  (our own)
    assert shown.count("<image ") == drawn.count("<image ")
    assert shown.count(figures.PAPER) == 1, "of the white text"


def test_every_id_is_referred_to_and_no_two_figures_share_one(tmp_path):
    shown = [inlined(draw(tmp_path / name), "") for name in ("a.svg", "b.svg")]
    ids = [re.findall(r'\bid="([^"]+)"', svg) for svg in shown]
    referred = re.findall(r'(?:url\(#|href="#)([^")]+)', "".join(shown))
    assert set(ids[0] + ids[1]) == set(referred)
    assert len(set(ids[0] + ids[1])) == 2 * len(ids[0]) > 0


def test_chinese_characters_have_enough_room_even_if_no_font_has_them(tmp_path, recwarn):
    """They are as wide as they are high, so a label is as many ems wide as it has characters."""
    with locale("zh"), figures.figure(tmp_path / "a.svg", figures.WIDTH, 3) as fig:
        axes = fig.add_subplot()
        label = axes.text(0, 0, "多因子调度器，学习率")
        fig.canvas.draw()
        width = label.get_window_extent().width * 72 / fig.dpi
    assert width == pytest.approx(10 * figures.SMALLEST, rel=0.02)
    assert not [w for w in recwarn if "missing from font" in str(w.message)]
