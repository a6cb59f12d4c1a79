"""A page of the report as its reader sees it: visible text, folded text, numbers."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

from stages.report.questions import Question

MOST_WORDS, MOST_ANSWER_WORDS, MOST_FINDINGS = 450, 45, 3
MOST_FINDING_WORDS = 12  # of the line on the index
NOT = {  # words that have a better one in the glossary
    "en": r"\bbehind\b|, too\b|\bhonest\b|\bengine\b|\blessons?\b|notes' way|\bat hand\b"
    r"|\bdearer\b|\bseldom\b|to the bit\b|\bwaited for\b|\bupdate rules?\b|\bmillionths\b"
    r"|\bone after the other|\bproducts? of matri|\bat once\b|\basked here\b",
    "zh": "经验|藏在|证实|否定|无定论|快至|立即开始学习|学习率一个周期",
}

# above the answer: the machine that measured the page, if not this one; not the page's own text
NOTES = re.compile(r'(?s)(?<=</p>\n)(?:<p class="soft small">.*?</p>\n)+(?=<div class="answer">)')
NUMBER = re.compile(r"(?<![A-Za-z\d.])[−-]?\d[\d,]*(?:\.\d+)?")
VOID = {"meta", "input", "img", "br", "hr", "link", "path", "rect", "circle", "use", "line"}
LEFT_OUT = {"script", "style", "svg", "nav", "head", "select", "button"}  # not the page itself


@dataclass
class Text(HTMLParser):
    """The words of a page's main part.

    Attributes:
        visible: the text that is shown without unfolding anything.
        folded: the other text.
        code: code that can be copied.
        figures: ids of the figures that are not folded.
        links: targets of all links.
        ids: ids that links can target.
    """

    visible: str = ""
    folded: str = ""
    code: str = ""
    figures: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[str] = []
        self._to_the_book = 0

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if name := attributes.get("id"):
            self.ids.append(name)
        if tag == "a":
            self.links.append(attributes["href"])
            self._to_the_book = "d2l.ai" in attributes["href"]
        if tag == "figure" and "details" not in self._open:
            self.figures.append(attributes.get("id", ""))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        if name := dict(attrs).get("id"):
            self.ids.append(name)

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self._open or self._open[-1] != tag:
            self.problems.append(f"</{tag}> in line {self.getpos()[0]}, open: {self._open[-3:]}")
        else:
            self._open.pop()
        self._to_the_book = 0 if tag == "a" else self._to_the_book

    def handle_data(self, data):
        if LEFT_OUT & set(self._open) or "main" not in self._open:
            return
        if self._to_the_book:  # the editions number chapters differently
            data = " "
        if "pre" in self._open:
            self.code += data
        elif "details" in self._open and self._open[-1] != "summary":
            self.folded += f" {data}"
        elif "details" not in self._open:
            self.visible += f" {data}"

    @property
    def words(self) -> int:
        """The number of visible words."""
        return sum(any(map(str.isalnum, word)) for word in self.visible.split())

    @property
    def numbers(self) -> set[str]:
        """The numbers, as they are written."""
        return {
            found.replace("-", "−").rstrip(",")
            for found in NUMBER.findall(self.visible + self.folded)
        }


def text_of(html: str) -> Text:
    found = Text()
    found.feed(html)
    found.close()
    return found


def check_whole(stage: str, language: str, page: Question) -> Text:
    """Check that a page is complete, whatever its results, and return its text."""
    found = text_of(page.html)
    where = f"{stage}, {language}"
    assert (page.problem, page.failures) == ("", []), where
    assert found.problems == [], where
    assert len(set(found.ids)) == len(found.ids), where
    everything = found.visible + found.folded
    assert not re.search(r"\bnan\b|\{\{|\}\}|\*\*|\binf\b", everything), where
    assert len(found.figures) == 1, f"{where}: one figure stands open, not {found.figures}"
    assert page.finding, where
    return found


def check(stage: str, language: str, page: Question) -> Text:
    """Check also that it has the glossary's words and is as short as a page should be."""
    found, where = check_whole(stage, language, page), f"{stage}, {language}"
    told = re.sub(r"(?s)Every statement.*", "", found.visible) + page.finding.striptags()
    assert re.findall(NOT[language], told) == [], where
    answer = re.search(r'(?s)<div class="answer">(.*?)</div>', page.html)
    lead = text_of(f"<main>{answer[1].split('</p>')[0]}</p></main>")
    findings = page.html.split('<h2 id="found">')[1].split("</section>")[0].count("<li>")
    assert findings <= MOST_FINDINGS, f"{where}: {findings} findings"
    if language == "en":
        finding = str(page.finding.striptags())
        assert len(finding.split()) <= MOST_FINDING_WORDS, f"{where}: a long finding: {finding}"
        words = text_of(NOTES.sub("", page.html)).words
        assert words <= MOST_WORDS, f"{where}: {words} words"
        assert lead.words <= MOST_ANSWER_WORDS, f"{where}: an answer of {lead.words} words"
    return found
