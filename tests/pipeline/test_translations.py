"""Every message has a Chinese one in the folder that says it, and no translation is left over."""

import ast
import importlib
import re
import string
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.claims.book_order import BOOK_ORDER
from lab.claims.ledger import ledger
from lab.claims.verdicts import Claim
from lab.data.datasets import CLASSES
from stages.report import catalogue
from stages.report.references import headlines
from tests.helpers import ROOT

SHARED = ("lab/claims", "lab/report")  # have what several folders say
FILES = {path.parent.relative_to(ROOT).as_posix(): path for path in catalogue.files("zh")}
TEMPLATES = sorted((ROOT / "stages" / "report" / "templates").glob("*.html.j2"))
WORD = re.compile(r"[A-Za-z]{3,}")


def read_one(path: Path) -> dict[str, str]:
    with path.open("rb") as file:
        return {str(m.id): str(m.string) for m in catalogue.read_po(file, locale="zh") if m.id}


KEPT = {folder: read_one(path) for folder, path in FILES.items()}
CHINESE = {english: chinese for kept in KEPT.values() for english, chinese in kept.items()}


def spoken(source: Path) -> Iterator[str]:
    """Yield what a Python file says; a message is always written out where it is said."""
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "say":
            [message] = node.args
            assert isinstance(message, ast.Constant), (
                f"{source.name}:{node.lineno}: expected a text"
            )
            yield str(message.value)


def labels_of(claim: Claim) -> set[str]:
    """A claim's unit, range and needs, many of which are those of other claims, too."""
    remedies = {need.remedy for need in claim.needs}
    return {claim.rule.unit, claim.rule.holds.template, *claim.wants, *remedies}


def claim_labels() -> set[str]:
    return set().union(*map(labels_of, ledger()))


@pytest.fixture(scope="module")
def said(told) -> dict[str, set[str]]:
    """What each folder says: in sentences, in claims, in headlines and in figures."""
    assert not told.problems, "\n".join(told.problems)
    found: dict[str, set[str]] = {}
    for room in ("lab", "stages"):
        for source in (ROOT / room).rglob("*.py"):
            folder = source.parent.relative_to(ROOT).as_posix()
            found.setdefault(folder, set()).update(spoken(source))
    for template in TEMPLATES:
        found["stages/report"] |= set(
            re.findall(r'\b(?:say|text)\("([^"]+)"', template.read_text())
        )
    for claim in ledger():
        found[f"stages/{claim.stage}"] |= {
            *(claim.says, claim.measured, claim.tolerance),
            *labels_of(claim),
        }
    for stage in BOOK_ORDER:
        if not (ROOT / "stages" / stage / "page" / "claims.py").is_file():
            continue
        of_stage = getattr(importlib.import_module(f"stages.{stage}.page.claims"), "UNMEASURED", ())
        found[f"stages/{stage}"] |= {text for each in of_stage for text in (each.says, each.reason)}
    labels = {each.label for each in headlines()}
    for each in headlines():
        found[f"stages/{each.stage}"].add(each.label)
    for stage, asked in told.asked.items():
        if stage not in ("references", "retest", "claims"):  # which say what others do, too
            found[f"stages/{stage}"] |= {message for message in asked if WORD.search(message)}
    found["stages/report"] -= labels
    return found


def pattern(node: ast.AST) -> str:
    """A regular expression of the texts that an expression makes, a group for each value."""
    match node:
        case ast.Constant(value=str(text)):
            return re.escape(text)
        case ast.JoinedStr(values=parts):
            return "".join(map(pattern, parts))
        case ast.FormattedValue(value=ast.IfExp() as value):
            return pattern(value)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return pattern(left) + pattern(right)
        case ast.IfExp(body=body, orelse=orelse):
            return f"(?:{pattern(body)}|{pattern(orelse)})"
    return "(.*)"


class Texts:
    """The texts in the Python files of a folder: what may become labels."""

    def __init__(self, folder: str) -> None:
        nodes = [
            node
            for source in (ROOT / folder).glob("*.py")
            for node in ast.walk(ast.parse(source.read_text()))
        ]
        texts = [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        self.known = {*texts, *CLASSES, ""}
        made = [pattern(n) for n in nodes if isinstance(n, ast.JoinedStr | ast.BinOp)]
        lines = {line for each in made for line in each.split("\\\n")}
        self.lines = {line for line in lines if re.sub(r"\(\.\*\)|[\\\s]", "", line)}

    def may_become(self, label: str, depth: int = 2) -> bool:
        """Whether a label can be drawn of them, if not from the committed results.

        It is one of them or a number, or a line of what an expression makes of such values.
        """
        if label in self.known or not re.search(r"[^\W\d_]", label):
            return True
        found = [re.fullmatch(line, label) for line in self.lines] if depth else []
        return any(
            all(self.may_become(value or "", depth - 1) for value in each.groups())
            for each in found
            if each
        )


def placeholders(message: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(message) if name is not None}


def test_every_message_has_a_translation(said):
    missing = sorted(set().union(*said.values()) - set(CHINESE))
    assert not missing, "\n".join(missing)


def test_no_word_of_a_chinese_figure_is_left_in_english(told):
    """But for those that Chinese texts use: names of nets, rules, functions and units."""
    used = {word for chinese in CHINESE.values() for word in WORD.findall(chinese)}
    left = [
        f"{stage}: {text}"
        for stage, texts in told.texts.items()
        for text in sorted(texts)
        if set(WORD.findall(text)) - used
    ]
    assert not left, "\n".join(left)


def test_a_message_is_in_the_file_of_the_folder_that_says_it_or_of_what_several_share(said):
    speakers = Counter(message for messages in said.values() for message in messages)
    shared = {message for message, folders in speakers.items() if folders > 1}
    shared |= claim_labels() & Texts("lab/claims").known  # also those that one stage uses
    strays = [
        f"{folder}: {message}"
        for folder, messages in said.items()
        for message in sorted(messages)
        if message not in KEPT.get(folder, {})
        and not (message in shared and any(message in KEPT[each] for each in SHARED))
    ]
    assert not strays, "\n".join(strays)


def test_no_translation_is_left_over(said):
    """What several folders say is in lab/; what one folder says is in its own file, and no more."""
    speakers = Counter(message for messages in said.values() for message in messages)
    left = []
    for folder, kept in KEPT.items():
        own = said.get(folder, set())
        if folder in SHARED:
            own = own | {message for message, folders in speakers.items() if folders > 1}
            own |= set(CLASSES)
        texts = Texts(folder)
        left += [
            f"{folder}: {message}"
            for message in kept
            if message not in own and not texts.may_become(message)
        ]
    assert not left, "\n".join(left)


def test_no_message_is_translated_twice():
    files = Counter(message for kept in KEPT.values() for message in kept)
    assert [message for message, count in files.items() if count > 1] == []


def test_a_translation_fills_in_what_the_message_does():
    for english, chinese in CHINESE.items():
        assert placeholders(english) == placeholders(chinese), english
        assert re.findall(r"</?\w+>", english) == re.findall(r"</?\w+>", chinese), english


def test_translations_are_no_markup_but_the_templates_own():
    for chinese in CHINESE.values():
        assert not re.search(r"<(?!/?(?:code|strong)>)", chinese), chinese
