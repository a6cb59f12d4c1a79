"""Labels of figures in another language."""

import html

from lab.report.language import speaking
from stages.report import translated_svg


def test_labels_of_a_figure_keep_their_numbers_and_stay_text():
    figure = (
        "<svg><text x='1'>64 rows (ms) &amp; 2.5x</text><text>1,024</text><path d='M 1 2'/></svg>"
    )
    assert translated_svg.labels(figure) == ["# rows (ms) & #x"]
    with speaking("zh", {"# rows (ms) & #x": "# 行 <毫秒> #x"}):
        translated = translated_svg.translated(figure)
    assert "64 行 &lt;毫秒&gt; 2.5x" in translated
    assert "<text>1,024</text><path d='M 1 2'/>" in translated
    assert html.unescape(translated_svg.translated(figure)) == html.unescape(figure)
