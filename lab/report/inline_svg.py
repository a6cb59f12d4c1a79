"""A drawn figure as a part of a page: in the page's colours and fonts, its text still text.

Ids stay unique within a page: matplotlib makes those that something refers to from a figure's name
(`svg.hashsalt`), and the others are left out.
"""

import re
from xml.etree import ElementTree

from lab.report import figures

NAMESPACE = re.compile(r"\{.*\}")
REFERENCE = re.compile(r'(?:url\(#|href="#)([^")]+)')
FONT = re.compile(r"font-family:[^;]*;?")
PAPER = ("fill: none", f"fill: {figures.PAPER}")  # styles of a figure's own sheet
VARIABLES = {
    figures.INK: "currentColor",
    figures.FAINT: "var(--faint)",
    figures.FAINT_TEXT: "var(--soft)",
    # a white edge parts what lies on the page; white text lies on something dark
    f"stroke: {figures.PAPER}": "stroke: var(--paper)",
    **{colour: f"var(--c{i})" for i, colour in enumerate(figures.COLOURS)},
    **{colour: f"var(--t{i})" for i, colour in enumerate(figures.TEXT_COLOURS)},
}


def inlined(svg: str, alt: str) -> str:
    """A figure's file as an element of a page; `alt` is read aloud in place of it."""
    root = ElementTree.fromstring(svg)  # noqa: S314  (our own figure)
    referred = set(REFERENCE.findall(svg))
    for element in list(root.iter()):
        for child in list(element):
            if child.tag.endswith(("metadata", "style")) or child.get("style") in PAPER:
                element.remove(child)
        element.tag = NAMESPACE.sub("", element.tag)
        element.attrib = {
            NAMESPACE.sub("", key): in_page_colours(FONT.sub("", " ".join(value.split())))
            for key, value in element.items()
            if key != "id" or value in referred
        }
        element.tail = None  # line breaks and indents
    width, height = root.attrib["viewBox"].split()[2:]
    root.attrib = {
        "role": "img",
        "aria-label": alt,
        "viewBox": root.attrib["viewBox"],
        "width": width,
        "height": height,
    }
    return ElementTree.tostring(root, encoding="unicode")


def in_page_colours(svg: str) -> str:
    """A figure, or a part of it, in the colours that a page has in light and dark."""
    for colour, variable in VARIABLES.items():
        svg = svg.replace(colour, variable)
    return svg
