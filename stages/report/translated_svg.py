"""Figures for the page: the labels of an SVG file, in the language that is spoken."""

import html
import re

from lab.report.language import translation

LABEL = re.compile(r"(<text\b[^>]*>)([^<]+)(</text>)")
NUMBER = re.compile(r"(?:(?<=\s)[-−])?\d+(?:[.,]\d+)*")  # with its sign, if a blank is before it


def labels(svg: str) -> list[str]:
    """What the figure says, each number as #: the keys under which a catalogue has it."""
    texts = [html.unescape(found[1]) for found in LABEL.findall(svg)]
    return [NUMBER.sub("#", text) for text in texts if re.search(r"[A-Za-z]{2}", text)]


def translated(svg: str) -> str:
    """The figure with its labels in the language that is spoken; what has no translation stays."""

    def with_label(found: re.Match[str]) -> str:
        label = in_translation(html.unescape(found[2]))
        return found[1] + html.escape(label, quote=False) + found[3]

    return LABEL.sub(with_label, svg)


def in_translation(label: str) -> str:
    """A label in the language that is spoken, with its own numbers."""
    numbers = iter(NUMBER.findall(label))
    return re.sub("#", lambda _: next(numbers), translation(NUMBER.sub("#", label)))
