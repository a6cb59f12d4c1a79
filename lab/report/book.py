"""The sections of Dive into Deep Learning in both editions: their numbers, and where on the web.

A section is named by its number in the English edition: `13.5`.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from lab.core.params import read_yaml
from lab.report.language import CHINESE, ENGLISH, language

SITES = {ENGLISH: "https://d2l.ai", CHINESE: "https://zh.d2l.ai"}


class Page(NamedTuple):
    number: str
    address: str


BOOK = read_yaml(Path(__file__).with_name("book.yaml"))
PAGES = {  # by edition, and by the name of a page, which no other page of the edition has
    edition: {
        name: Page(f"{i}.{j}", f"{site}/chapter_{chapter}/{name}.html")
        for i, (chapter, names) in enumerate(BOOK[edition].items(), 1)
        for j, name in enumerate(names, 1)
    }
    for edition, site in SITES.items()
}
SECTIONS = {page.number: name for name, page in PAGES[ENGLISH].items()}


def page_of(section: str) -> Page:
    """A section in the edition of the language that is spoken; in English if only that has it."""
    name = SECTIONS[section]
    english = PAGES[ENGLISH][name]
    if language() == ENGLISH:
        return english
    chinese = PAGES[CHINESE].get(BOOK["renamed"].get(name, name))
    return chinese or Page(f"英文版 {section}", english.address)


def section_list(sections: Iterable[str]) -> str:
    """Several sections, in the numbers of the edition of the language that is spoken."""
    return ("、" if language() == CHINESE else ", ").join(page_of(each).number for each in sections)


def chapter_number(chapter: str) -> str:
    """A chapter's number in the edition of the language that is spoken."""
    return page_of(f"{chapter}.1").number.rpartition(".")[0]


def link(section: str) -> str:
    """A link of Markdown, named by the section's number."""
    return "[{}]({})".format(*page_of(section))
