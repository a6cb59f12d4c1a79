"""Every message of the report has a Chinese one with the same placeholders, and no translation is
left over.
"""

import ast
import html
import re
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.claims.ledger import ledger
from lab.report.language import ENGLISH, language, say, speaking
from stages.report import catalogue, translated_svg
from tests.helpers import ROOT

SOURCES = sorted(path for room in ("lab", "stages") for path in (ROOT / room).rglob("*.py"))
CHINESE = catalogue.read("zh")
FIGURES = sorted((ROOT / "reports" / "figures").glob("*.svg"))


def spoken(source: Path) -> Iterator[str]:
    """Yield what a Python file says; a message is always written out where it is said."""
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "say":
            [message] = node.args
            assert isinstance(message, ast.Constant), (
                f"{source.name}:{node.lineno}: expected a text"
            )
            yield str(message.value)


def in_template() -> Iterator[str]:
    template = (ROOT / "stages" / "report" / "templates" / "index.html.j2").read_text()
    return iter(re.findall(r'\b(?:say|text)\("([^"]+)"', template))


def of_claims() -> set[str]:
    """What the ledger says, and what its rules' ranges and units do."""
    texts = [(c.says, c.measured, c.rule.unit, c.rule.holds.template, *c.wants) for c in ledger()]
    return {text for each in texts for text in each}


def messages() -> set[str]:
    return (
        {message for source in SOURCES for message in spoken(source)}
        | set(in_template())
        | of_claims()
    )


def drawn() -> set[str]:
    """What the committed figures say."""
    return {label for path in FIGURES for label in translated_svg.labels(path.read_text())}


def placeholders(message: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(message) if name is not None}


def test_every_message_is_in_the_catalogue():
    missing = sorted((messages() | drawn()) - set(CHINESE))
    assert not missing, "\n".join(missing)


def test_a_translation_fills_in_what_the_message_does():
    for english in messages() & set(CHINESE):
        assert placeholders(english) == placeholders(CHINESE[english]), english
        assert re.findall(r"</?\w+>", english) == re.findall(r"</?\w+>", CHINESE[english]), english


def test_no_translation_is_left_over():
    """A message of numbers as # is a label of a figure, of which a GPU's run may draw others than
    the committed one.
    """
    labels = drawn()
    for path in catalogue.files("zh"):
        left = {message for message in read_one(path) - messages() - labels if "#" not in message}
        assert not left & set(), path


def read_one(path: Path) -> set[str]:
    with path.open("rb") as file:
        return {str(m.id) for m in catalogue.read_po(file, locale="zh") if m.id}


def test_another_language_is_spoken_for_as_long_as_its_context_lasts():
    assert language() == ENGLISH
    with speaking("zh", {"{n} dogs": "{n} 只狗"}):
        assert (language(), say("{n} dogs", n=2), say("{n} cats", n=2)) == (
            "zh",
            "2 只狗",
            "2 cats",
        )
    assert say("{n} dogs", n=2) == "2 dogs"


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


@pytest.mark.parametrize("text", sorted(CHINESE.values()))
def test_translations_are_no_markup_but_the_templates_own(text):
    assert not re.search(r"<(?!/?(?:code|strong)>)", text)
