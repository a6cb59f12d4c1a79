"""The two pages as text: the same numbers in both languages, valid, small."""

import re
from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser

import pytest

from tests.helpers import ROOT

pytestmark = pytest.mark.slow

ENGLISH, CHINESE = "index.html", "index.zh.html"
NUMBER = re.compile(r"(?<![A-Za-z\d.])[−-]?\d[\d,]*(?:\.\d+)?")
VOID = {"meta", "input", "img", "br", "hr", "link"}


@dataclass
class Parts(HTMLParser):
    """The texts of a page by section and by figure, its ids, and what is not nested well."""

    sections: dict[str, str] = field(default_factory=dict)
    figures: dict[str, str] = field(default_factory=dict)
    ids: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    script: str = ""
    csp: str = ""

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[tuple[str, str]] = []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if name := attributes.get("id"):
            self.ids.append(name)
        if attributes.get("http-equiv") == "Content-Security-Policy":
            self.csp = attributes["content"]
        if tag not in VOID:
            self._open.append((tag, attributes.get("id", "")))

    def handle_startendtag(self, tag, attrs):
        if name := dict(attrs).get("id"):
            self.ids.append(name)

    def handle_endtag(self, tag):
        if not self._open or self._open[-1][0] != tag:
            self.problems.append(f"</{tag}> in line {self.getpos()[0]}, open: {self._open[-3:]}")
        else:
            self._open.pop()

    def handle_data(self, data):
        tags = [tag for tag, _ in self._open]
        if tags[-1:] == ["script"]:
            self.script += data
        elif "figure" in tags:
            name = next(name for tag, name in self._open if tag == "figure")
            self.figures[name] = self.figures.get(name, "") + f" {data}"
        elif "section" in tags:
            name = next(name for tag, name in self._open if tag == "section")
            self.sections[name] = self.sections.get(name, "") + f" {data}"


def parts(path) -> Parts:
    found = Parts()
    found.feed(path.read_text(encoding="utf-8"))
    found.close()
    return found


@pytest.fixture(scope="module", params=["committed", "made up"])
def pages(request):
    """Both pages: those that are committed, and those of made-up results."""
    made = request.param == "made up"
    folder = request.getfixturevalue("drawn") if made else ROOT / "reports"
    return {name: parts(folder / name) for name in (ENGLISH, CHINESE)}


def numbers(text: str) -> Counter[str]:
    return Counter(found.replace("-", "−").rstrip(",") for found in NUMBER.findall(text))


def in_the_english_edition(text: str) -> str:
    """A Chinese text with the numbers of the English edition's chapters: one higher."""
    return re.sub(r"(?<=第 )[\d., 至]+(?= ?[节章])", lambda places: _one_higher(places[0]), text)


def _one_higher(places: str) -> str:
    return re.sub(r"(?<![.\d])1[12]", lambda chapter: str(int(chapter[0]) + 1), places)


@pytest.mark.parametrize("kind", ["sections", "figures"])
def test_both_pages_show_the_same_numbers(pages, kind):
    english, chinese = (getattr(pages[name], kind) for name in (ENGLISH, CHINESE))
    assert english.keys() == chinese.keys()
    differ = {
        name: (numbers(text) - there, there - numbers(text))
        for name, text in english.items()
        if name != "data"  # whose chapter is another
        if numbers(text) != (there := numbers(in_the_english_edition(chinese[name])))
    }
    assert not differ


def test_a_page_is_well_formed_and_each_id_is_there_once(pages):
    for page in pages.values():
        assert page.problems == []
        assert [name for name, count in Counter(page.ids).items() if count > 1] == []


def test_a_page_is_small_and_allows_its_own_script_alone(pages):
    for name, page in pages.items():
        assert len(page.script.encode()) <= 45_000, name
        assert "script-src 'sha256-" in page.csp
        assert "unsafe-eval" not in page.csp
    for name in (ENGLISH, CHINESE):
        assert (ROOT / "reports" / name).stat().st_size < 1_000_000, name
