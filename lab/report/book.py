"""The book's chapters on optimization and performance in both editions.

A section is named by its number in the English edition: `13.5`. Both editions have the same
sections in the same order, one chapter apart (d2l-ai/d2l-en 23d7a5a, d2l-ai/d2l-zh e6b18cc).
"""

from collections.abc import Iterable
from typing import NamedTuple

from lab.report.language import CHINESE, ENGLISH, language

SITES = {ENGLISH: "https://d2l.ai", CHINESE: "https://zh.d2l.ai"}
CHAPTERS = {  # by number: the chapter's folder, and its pages in order
    "12": (
        "chapter_optimization",
        "optimization-intro convexity gd sgd minibatch-sgd momentum adagrad rmsprop adadelta adam"
        " lr-scheduler",
    ),
    "13": (
        "chapter_computational-performance",
        "hybridize async-computation auto-parallelism hardware multiple-gpus multiple-gpus-concise"
        " parameterserver",
    ),
}
PATHS = {
    f"{chapter}.{i}": f"{folder}/{name}.html"
    for chapter, (folder, names) in CHAPTERS.items()
    for i, name in enumerate(names.split(), 1)
}


class Page(NamedTuple):
    number: str
    address: str


def page_of(section: str) -> Page:
    """Return a section's page in the current language's edition."""
    chapter, _, number = section.partition(".")
    address = f"{SITES[language()]}/{PATHS[section]}"
    return Page(f"{chapter_number(chapter)}.{number}", address)


def chapter_number(chapter: str) -> str:
    """Return a chapter's number in the current language's edition."""
    return str(int(chapter) - (language() == CHINESE))


def section_list(sections: Iterable[str]) -> str:
    """Return a list of sections by their numbers in the current language's edition.

    Consecutive sections become a range.
    """
    rows: list[list[str]] = []
    order = [*PATHS]
    for section in sections:
        if rows and order.index(section) == order.index(rows[-1][-1]) + 1:
            rows[-1].append(section)
        else:
            rows.append([section])
    ends = ({row[0]: None, row[-1]: None} for row in rows)
    told = ("–".join(page_of(section).number for section in each) for each in ends)
    return ("、" if language() == CHINESE else ", ").join(told)


def link(section: str) -> str:
    """Return a Markdown link to a section, with its number as the text."""
    return "[{}]({})".format(*page_of(section))
