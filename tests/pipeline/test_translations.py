"""Every message has a Chinese translation that fills in the same values."""

import ast
import re
import string
from pathlib import Path

from lab.claims.book_order import HEADINGS
from lab.claims.ledger import ledger
from lab.core.files import ROWS, read_rows
from lab.report.language import catalogue
from lab.report.reason_words import SWITCHES, WORDS
from lab.report.verdict_words import SHOWN
from tests.helpers import COMMITTED, ROOT


def spoken(source: Path) -> set[str]:
    """Return the messages that a Python file passes to `say`, always as literals."""
    calls = [node for node in ast.walk(ast.parse(source.read_text())) if isinstance(node, ast.Call)]
    said = [call.args for call in calls if getattr(call.func, "id", "") == "say"]
    assert all(isinstance(message, ast.Constant) for [message] in said), source
    return {str(message.value) for [message] in said}


def test_every_message_has_a_translation():
    said = {claim.holds.template for claim in ledger()} | set(HEADINGS)
    said |= {shown.word for shown in SHOWN.values()} | {*WORDS.values(), *SWITCHES.values()}
    for room in ("lab", "stages"):
        said = said.union(*map(spoken, (ROOT / room).rglob("*.py")))
    for template in (ROOT / "stages" / "report" / "templates").glob("*.html.j2"):
        said |= set(re.findall(r'\b(?:say|text)\("([^"]+)"', template.read_text()))
    said |= {str(row["unit"]) for row in read_rows(COMMITTED / "reports" / "claims" / ROWS)}
    missing = sorted(said - set(catalogue()) - {""})
    assert not missing, "write their Chinese into a words.yaml: " + "\n".join(missing)


def test_a_translation_has_the_placeholders_and_tags_of_its_message():
    for english, chinese in catalogue().items():
        names = [
            {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
            for text in (english, chinese)
        ]
        assert names[0] == names[1], english
        assert re.findall(r"</?\w+>", english) == re.findall(r"</?\w+>", chinese), english
        assert not re.search(r"<(?!/?(?:code|strong)>)", chinese), chinese
