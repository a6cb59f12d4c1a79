"""Figures for the page: the labels of an SVG file in the language that is spoken, and its colours as the page's own."""

import html
import re

from lab.words import translation

LABEL = re.compile(r"(<text\b[^>]*>)([^<]+)(</text>)")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def labels(svg: str) -> list[str]:
    """Return what the figure says, each number as #: the keys under which a catalogue has it."""
    texts = [html.unescape(found[1]) for found in LABEL.findall(svg)]
    return [NUMBER.sub("#", text) for text in texts if re.search(r"[A-Za-z]{2}", text)]


def translated(svg: str) -> str:
    """Return the figure with its labels in the language that is spoken; what has no translation stays."""
    return LABEL.sub(lambda found: found[1] + html.escape(_label(html.unescape(found[2])), quote=False) + found[3], svg)


def _label(text: str) -> str:
    numbers = iter(NUMBER.findall(text))
    return re.sub("#", lambda _: next(numbers), translation(NUMBER.sub("#", text)))
