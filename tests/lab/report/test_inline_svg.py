"""Figures as parts of a page: what a reader sees stays, what only takes room goes."""

import base64
import io
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from lab.report import figures
from lab.report.inline_svg import Styles, inlined
from lab.report.language import speaking


@pytest.fixture
def drawn(tmp_path):
    """A figure with all that figures have: text, lines, hatches, dots, a picture."""
    with figures.figure(tmp_path / "a.svg", figures.WIDTH, 3) as fig:
        axes = fig.add_subplot()
        axes.plot([1, 2, 3], [3.14159, -4, 5], "o-")
        axes.bar([1], [2], hatch=figures.VIRTUAL_HATCH)
        axes.imshow(np.eye(4), extent=(0, 1, 0, 1), cmap="gray")
        axes.set_title("T < 5 & π")
        axes.text(2, 2, "white", color=figures.PAPER)
    return (tmp_path / "a.svg").read_text()


def texts(svg):
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def test_text_stays_and_what_is_not_seen_goes(drawn):
    styles = Styles()
    short = inlined(drawn, 'a "figure" & more', styles)
    assert texts(short) == texts(drawn)
    assert len(short) + len(styles.css()) < 0.5 * len(drawn)
    assert 'aria-label="a &quot;figure&quot; &amp; more"' in short
    for gone in ("font-family", "style=", "xlink", "<metadata", "figure_1"):
        assert gone not in short
    ElementTree.fromstring(short)  # noqa: S314  (our own)
    assert short.count("<image ") == drawn.count("<image ")
    assert "fill:#ffffff" in styles.css(), "of the white text"


def test_every_id_is_referred_to_and_no_two_figures_of_a_page_share_one(drawn):
    styles = Styles()
    shown = [inlined(drawn, "", styles) for _ in range(2)]
    ids = [re.findall(r'\bid="([^"]+)"', svg) for svg in shown]
    referred = re.findall(r'(?:url\(#|href="#)([^")]+)', "".join(shown) + styles.css())
    assert set(ids[0] + ids[1]) == set(referred)
    assert len(set(ids[0] + ids[1])) == 2 * len(ids[0]) > 0


def corners(path):
    """All points of a path, those that steer a curve included, by the rules of SVG."""
    found, x, y, start = [], 0.0, 0.0, (0.0, 0.0)
    of_one = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "Q": 4, "Z": 0}
    for command, numbers in re.findall(r"([MLHVCQZmlhvcqz])([^A-Za-z]*)", path):
        kind, relative = command.upper(), command.islower()
        values = [float(n) for n in re.findall(r"-?\d*\.?\d+", numbers)]
        if kind == "Z":
            x, y = start
        for i in range(0, len(values), of_one[kind] or 1):
            from_x, from_y = (x, y) if relative else (0.0, 0.0)
            one = values[i : i + of_one[kind]]
            if kind in "HV":
                points = [(from_x + one[0], y) if kind == "H" else (x, from_y + one[0])]
            else:
                points = [
                    (from_x + a, from_y + b) for a, b in zip(one[::2], one[1::2], strict=True)
                ]
            found += points
            x, y = points[-1]
            start = (x, y) if kind == "M" else start
    return found


def test_places_are_kept_to_a_tenth_of_a_point(drawn):
    def places(svg):
        paths = re.findall(r'<path (?:id="[^"]*" )?d="([^"]+)"', svg.replace("\n", " "))
        return [corners(d) for d in paths]

    before, after = places(drawn), places(inlined(drawn, "", Styles()))
    assert len(after) > 10
    kept = iter(before)
    for path in after:  # in the same order; sheets of paper are left out
        assert any(
            len(path) == len(other) and np.allclose(path, other, atol=0.051) for other in kept
        ), path


def picture_of(svg):
    found = re.search(r"data:image/png;base64,([^\"]+)", svg)
    return Image.open(io.BytesIO(base64.b64decode(found[1])))


@pytest.mark.parametrize(
    ("cmap", "alpha", "mode"),
    [("gray", None, "L"), ("viridis", None, "RGBA"), ("gray", 0.5, "RGBA")],
)
def test_a_picture_keeps_its_pixels_and_only_the_channels_that_it_needs(
    tmp_path, cmap, alpha, mode
):
    with figures.figure(tmp_path / "a.svg", figures.WIDTH, 3) as fig:
        fig.add_subplot().imshow(np.arange(12).reshape(3, 4), cmap=cmap, alpha=alpha)
    drawn = (tmp_path / "a.svg").read_text()
    short = picture_of(inlined(drawn, "", Styles()))
    assert short.mode == mode
    np.testing.assert_array_equal(short.convert("RGBA"), picture_of(drawn).convert("RGBA"))


def test_chinese_letters_have_room_where_no_font_has_them(tmp_path, recwarn):
    """As wide as they are high, so that a label of them needs as many ems as letters."""
    with speaking("zh", {}), figures.figure(tmp_path / "a.svg", figures.WIDTH, 3) as fig:
        axes = fig.add_subplot()
        label = axes.text(0, 0, "多因子调度器，学习率")
        fig.canvas.draw()
        width = label.get_window_extent().width * 72 / fig.dpi
    assert width == pytest.approx(10 * figures.SMALLEST, rel=0.02)
    assert not [w for w in recwarn if "missing from font" in str(w.message)]
