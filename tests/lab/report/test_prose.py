"""A page's text: values by name, headings in order, mistakes with their place."""

import re

import pytest
from markupsafe import Markup

from lab.core.errors import DataError
from lab.report.language import locale
from lab.report.prose import HEADINGS, OPTIONAL, fill_in

BODY = "\n\n".join(
    f"## {words['en']}\n\ntext" for key, words in HEADINGS.items() if key not in OPTIONAL
)
FRONT = """---
task: Do it
title: A question?
finding: "{{ n | number }} times"
number: "{{ n }}"
---
"""


def text(tmp_path, body: str, front: str = FRONT):
    path = tmp_path / "en.md"
    path.write_text(front + body, encoding="utf-8")
    return path


def test_values_are_filled_in_and_parts_are_found_by_their_headings(tmp_path):
    path = text(tmp_path, "**It is {{ n | number }}.**\n\n" + BODY)
    prose = fill_in(path, {"n": 1.72})
    assert prose.front["finding"] == "1.7 times"
    assert prose.parts["answer"].html.strip() == "<p><strong>It is 1.7.</strong></p>"
    assert list(prose.parts) == ["answer", *(k for k in HEADINGS if k not in OPTIONAL)]
    assert prose.parts["why"].html.strip() == "<p>text</p>"


def test_filled_in_values_are_escaped(tmp_path):
    evil = "<script>x</script> *a* [b](c) `d` |"
    path = text(tmp_path, "{{ evil }}\n\n{{ ours }}\n\n" + BODY)
    html = fill_in(path, {"n": 1, "evil": evil, "ours": Markup("<b>c</b>")}).parts["answer"].html
    assert set(re.findall("<([a-z]+)", html)) == {"p", "b"}
    assert "<b>c</b>" in html
    assert Markup(html.split("</p>")[0].removeprefix("<p>")).unescape() == evil


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("a\n\n{{ unknown }}\n", "unknown"),
        ("a\n\n{% if %}\n", "line 9"),  # of the file, including the front matter
        ("{{ nothing }}", "None"),
        (BODY.replace("Why", "How come"), "“How come” is no heading"),
        (BODY + "\n\n## Why\n", "stands there twice"),
        (BODY.replace("## Why", "Why"), "in this order"),
    ],
)
def test_a_mistake_is_reported_with_its_place(tmp_path, body, words):
    path = text(tmp_path, body)
    with pytest.raises(DataError, match=words) as raised:
        fill_in(path, {"n": 1, "nothing": None})
    assert str(path) in str(raised.value)


def test_a_missing_line_of_the_front_matter_is_reported(tmp_path):
    path = text(tmp_path, BODY, FRONT.replace("task: Do it\n", ""))
    with pytest.raises(DataError, match=r"en\.md: its front matter lacks task"):
        fill_in(path, {"n": 1})


def test_a_line_break_within_a_paragraph_is_no_space_in_chinese(tmp_path):
    with locale("zh"):
        found = fill_in(text(tmp_path, "一句。\n两句。\n"), {"n": 1}, headings=False)
    assert found.parts["answer"].html.strip() == "<p>一句。两句。</p>"


def test_a_table_scrolls_and_links_lead_to_the_edition_of_the_language(tmp_path):
    path = text(tmp_path, '| a |\n|---|\n| {{ book("13.2") }} |\n')
    html = fill_in(path, {"n": 1}, headings=False).parts["answer"].html
    assert '<div class="scroll" tabindex="0" role="region" aria-label="Table 1"><table>' in html
    assert re.search('href="https://d2l.ai/chapter_[^"]*async-computation.html">13.2<', html)
    with locale("zh"):
        html = fill_in(path, {"n": 1}, headings=False).parts["answer"].html
    assert re.search('href="https://zh.d2l.ai/chapter_[^"]*async-computation.html">12.2<', html)
