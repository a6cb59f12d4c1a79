"""Inline a drawn figure into a page: with the page's colours and fonts, its text still text.

Ids stay unique within a page: matplotlib makes referenced ids from the figure's name
(`svg.hashsalt`), and other ids are removed.
"""

import re
from xml.etree import ElementTree

from lab.report import figures

NAMESPACE = re.compile(r"\{.*\}")
REFERENCE = re.compile(r'(?:url\(#|href="#)([^")]+)')
FONT = re.compile(r"font-family:[^;]*;?")
PAPER = ("fill: none", f"fill: {figures.PAPER}")  # styles of a figure's background
VARIABLES = {
    figures.INK: "currentColor",
    figures.FAINT: "var(--faint)",
    figures.FAINT_TEXT: "var(--soft)",
    # white edges take the page's colour; white text stays white, since it lies on something dark
    f"stroke: {figures.PAPER}": "stroke: var(--paper)",
    **{colour: f"var(--c{i})" for i, colour in enumerate(figures.COLOURS)},
    **{colour: f"var(--t{i})" for i, colour in enumerate(figures.TEXT_COLOURS)},
}


def inlined(svg: str, alt: str) -> str:
    """Return a figure's SVG as an element of a page; screen readers read `alt` instead."""
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
    """Replace an SVG's colours with the page's variables, for its light and dark themes."""
    for colour, variable in VARIABLES.items():
        svg = svg.replace(colour, variable)
    return svg
