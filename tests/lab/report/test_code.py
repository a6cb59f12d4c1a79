"""Coloured code keeps its text, and marks the comments and keywords that Python finds."""

import io
import keyword
import re
import tokenize

import pytest

from lab.report.code import coloured
from tests.helpers import ROOT

FILES = sorted(ROOT.glob("stages/*/do_this.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_comments_and_keywords_are_those_that_python_finds(path):
    code = path.read_text()
    html = coloured(code)
    assert html.striptags().split() == code.split()
    tokens = list(tokenize.generate_tokens(io.StringIO(code).readline))
    comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
    keywords = [token.string for token in tokens if keyword.iskeyword(token.string)]
    for kind, expected in (("comment", comments), ("keyword", keywords)):
        shown = re.findall(rf'<span class="{kind}">(.*?)</span>', html)
        assert [type(html)(each).unescape() for each in shown] == expected


def test_a_string_contains_no_comment_and_no_tag():
    html = coloured("x = f\"# <b> for {'#'}\"  # of 'it'\ny = '\\'#'\n")
    assert re.findall(r'<span class="(\w+)">', html) == ["text", "comment", "text"]
    assert "<b>" not in html
    assert html.endswith("</span>\n")
