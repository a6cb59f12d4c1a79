"""The width of Chinese letters, for matplotlib, on machines without a Chinese font.

Figures keep their text as text, which a reader's own fonts draw; matplotlib only has to know its
width. Its own font has no Chinese letters and would take them for narrow ones, so that labels would
overflow their figures. The font made here has empty letters, as wide as high.
"""

import functools
import itertools
import tempfile
from pathlib import Path

from fontTools.fontBuilder import FontBuilder
from fontTools.ttLib.tables._g_l_y_f import Glyph
from matplotlib import font_manager

WIDE_LETTERS = "lab wide letters"
EM = 1000  # font units
# punctuation and kana, ideographs, full-width forms: wide ones by Unicode's East Asian Width
BLOCKS = ((0x3000, 0x30FF), (0x4E00, 0x9FFF), (0xFF01, 0xFF60))


@functools.cache
def know_wide_letters() -> tempfile.TemporaryDirectory[str]:
    """Add the font to matplotlib; return its folder, which must last as long as the process."""
    folder = tempfile.TemporaryDirectory()
    for style, weight in (("Regular", 400), ("Bold", 700)):
        path = Path(folder.name) / f"{style}.ttf"
        _write(path, style, weight)
        font_manager.fontManager.addfont(path)
    return folder


def _write(path: Path, style: str, weight: int) -> None:
    letters = itertools.chain.from_iterable(range(low, high + 1) for low, high in BLOCKS)
    font = FontBuilder(EM, isTTF=True)
    font.setupGlyphOrder([".notdef", "wide"])
    font.setupCharacterMap(dict.fromkeys(letters, "wide"))
    font.setupGlyf({".notdef": Glyph(), "wide": Glyph()})
    font.setupHorizontalMetrics({".notdef": (EM, 0), "wide": (EM, 0)})
    font.setupHorizontalHeader(ascent=880, descent=-120)
    font.setupNameTable({"familyName": WIDE_LETTERS, "styleName": style})
    font.setupOS2(sTypoAscender=880, sTypoDescender=-120, usWeightClass=weight)
    font.setupPost()
    font.save(path)
