"""The sections of Dive into Deep Learning in both editions: their numbers, and where on the web."""

import re
from collections.abc import Iterable

from lab.report.language import CHINESE, ENGLISH, language

PAGES = {
    "4.2": "linear-classification/image-classification-dataset",
    "12.1": "optimization/optimization-intro",
    "12.2": "optimization/convexity",
    "12.3": "optimization/gd",
    "12.4": "optimization/sgd",
    "12.5": "optimization/minibatch-sgd",
    "12.6": "optimization/momentum",
    "12.7": "optimization/adagrad",
    "12.8": "optimization/rmsprop",
    "12.9": "optimization/adadelta",
    "12.10": "optimization/adam",
    "12.11": "optimization/lr-scheduler",
    "13.1": "computational-performance/hybridize",
    "13.2": "computational-performance/async-computation",
    "13.3": "computational-performance/auto-parallelism",
    "13.4": "computational-performance/hardware",
    "13.5": "computational-performance/multiple-gpus",
    "13.6": "computational-performance/multiple-gpus-concise",
    "13.7": "computational-performance/parameterserver",
}


def section_number(sections: str) -> str:
    """Sections of the book in the edition of the language that is spoken: `12.3`, `13.5, 13.6`.

    The Chinese edition has one chapter fewer before those on optimization and on performance; its
    section on Fashion-MNIST is 3.5.
    """
    if language() == ENGLISH:
        return sections
    if sections == "4.2":
        return "3.5"
    return re.sub(r"(?<![.\d])\d+", lambda chapter: str(int(chapter[0]) - 1), sections)


def section_list(sections: Iterable[str]) -> str:
    """Several sections, in the numbers of the edition of the language that is spoken."""
    return ("、" if language() == CHINESE else ", ").join(map(section_number, sections))


def url(section: str) -> str:
    """A section's page in the edition of the language that is spoken; else the book's first one."""
    site = "https://zh.d2l.ai" if language() == CHINESE else "https://d2l.ai"
    if section not in PAGES:
        return f"{site}/"
    page = PAGES[section]
    if language() == CHINESE:
        page = page.replace("linear-classification/", "linear-networks/")
    return f"{site}/chapter_{page}.html"


def link(section: str) -> str:
    """The same as a link of Markdown, named by its number."""
    return f"[{section_number(section)}]({url(section)})"
