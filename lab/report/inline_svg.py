"""A drawn figure as a part of a page: the page's own ink, paper and fonts, in few bytes.

What matplotlib writes is mostly the same styles over and over, numbers to a thousandth of a pixel,
and names that nothing refers to: a page of fifty figures is a third as long without.
"""

import base64
import io
import itertools
import re
from collections.abc import Iterator
from html import escape
from xml.etree import ElementTree

from PIL import Image

from lab.report import figures

SVG, XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
NUMBER = re.compile(r"-?\d*\.\d+(?:e-?\d+)?")
NO_TURN = re.compile(r"\s*rotate\(-?0(?:\.0*)? [^)]*\)\s*")
ROUNDED = {"d", "x", "y", "width", "height", "points", "cx", "cy", "r"}
DROPPED = {"metadata", "style", "title"}
PNG = "data:image/png;base64,"
VARIABLES = {
    figures.INK: "currentColor",
    **{colour: f"var(--c{i})" for i, colour in enumerate(figures.COLOURS)},
    **{colour: f"var(--t{i})" for i, colour in enumerate(figures.TEXT_COLOURS)},
    figures.FAINT: "var(--faint)",
    figures.FAINT_TEXT: "var(--soft)",
}


REFERENCE = re.compile(r'(\bid="|url\(#|href="#)([^")]+)')


class Styles:
    """What all figures of a page share: styles, each a class with a short name, and free ids."""

    def __init__(self) -> None:
        """Start without any."""
        self._names: dict[str, str] = {}
        self._ids = itertools.count()

    def new_id(self) -> str:
        """An id that no other element of the page's figures has."""
        return f"i{next(self._ids)}"

    def name(self, style: str) -> str:
        """The class of a style, which becomes one if it is new."""
        return self._names.setdefault(style, f"f{len(self._names)}")

    def css(self) -> str:
        """The rules of all classes."""
        return "\n".join(f".{name}{{{style}}}" for style, name in self._names.items())


def inlined(svg: str, alt: str, styles: Styles) -> str:
    """The figure as an element with a spoken name, its styles among those of the page."""
    referred = re.findall(r'(?:url\(#|href="#)([^")]+)', svg)
    ids = {name: styles.new_id() for name in dict.fromkeys(referred)}
    svg = REFERENCE.sub(lambda found: found[1] + ids.get(found[2], found[2]), svg)
    root = ElementTree.fromstring(svg)  # noqa: S314  (our own figure)
    box = root.get("viewBox", "")
    width, height = (f"{float(n):.0f}" for n in box.split()[2:])
    used = set(ids.values())
    inside = "".join(_written(child, used, styles) for child in root)
    return (
        f'<svg role="img" aria-label="{escape(alt)}" viewBox="0 0 {width} {height}"'
        f' width="{width}" height="{height}">{inside}</svg>'
    )


def _written(element: ElementTree.Element, used: set[str], styles: Styles) -> str:
    """An element in few bytes; a group without a meaning of its own is what it holds."""
    tag = element.tag.removeprefix(SVG)
    if tag in DROPPED or _is_paper(element):
        return ""
    attributes = dict(_attributes(element, used, styles))
    inside = escape(element.text.strip(), quote=False) if element.text else ""
    inside += "".join(_written(child, used, styles) for child in element)
    if tag == "g":
        inside, shared = _dots_of_one_class(inside)
        attributes |= shared
    if tag == "g" and not attributes:
        return inside
    if tag in ("g", "defs") and not inside:
        return ""
    written = "".join(f' {key}="{escape(value)}"' for key, value in attributes.items())
    return f"<{tag}{written}>{inside}</{tag}>" if inside else f"<{tag}{written}/>"


def _dots_of_one_class(inside: str) -> tuple[str, dict[str, str]]:
    """A group of nothing but dots that look alike: their class is the group's."""
    classes = re.findall(r' class="([^"]+)"', inside)
    dots = inside.count("<use ")
    alike = len(set(classes)) == 1 and len(classes) == dots > 1
    if not alike or not re.fullmatch(r"(<use [^>]*/>)+", inside):
        return inside, {}
    return inside.replace(f' class="{classes[0]}"', ""), {"class": classes[0]}


def _is_paper(element: ElementTree.Element) -> bool:
    """Whether it is a figure's own white sheet, in place of which a page has its own."""
    return element.tag == f"{SVG}path" and element.get("style") in (
        f"fill: {figures.PAPER}",
        "fill: none",
    )


def _attributes(
    element: ElementTree.Element, used: set[str], styles: Styles
) -> Iterator[tuple[str, str]]:
    for key, value in element.items():
        name = key.removeprefix(XLINK)
        if name == "id":
            if value in used:
                yield name, value
        elif name == "style":
            if style := _short_style(value):
                yield "class", styles.name(style)
        elif name == "transform":
            if turned := NO_TURN.sub("", value):
                yield name, _rounded(turned, 2)
        elif name in ROUNDED:
            if (rounded := _rounded(value, 1)) != "0" or name not in "xy":  # where all else begins
                yield name, rounded
        elif name == "href":
            yield name, _short_picture(value) if value.startswith(PNG) else value
        elif not name.startswith("xmlns"):
            yield name, value


def _short_picture(png: str) -> str:
    """A picture with one channel in place of four where it is grey and nothing shines through."""
    file = io.BytesIO(base64.b64decode(png.removeprefix(PNG)))
    with Image.open(file, formats=["png"]) as picture:
        red, green, blue, opacity = picture.convert("RGBA").split()
        grey = red.tobytes() == green.tobytes() == blue.tobytes()
        opaque = opacity.getextrema() == (255, 255)
        short = io.BytesIO()
        (red if grey and opaque else picture).save(short, "png", optimize=True)
    return PNG + base64.b64encode(short.getvalue()).decode()


def _rounded(text: str, digits: int) -> str:
    """A path or a number to so many digits behind the point, without needless blanks."""
    text = NUMBER.sub(lambda found: _number(float(found[0]), digits), text)
    if digits > 1:
        return text
    text = re.sub(r"\s*([A-Za-z])\s*", r"\1", " ".join(text.split()))
    return "".join(_short_path(text)) if re.fullmatch(r"M[-MLCQz\d. ]+", text) else text


def _short_path(path: str) -> Iterator[str]:
    """The commands of a path, each from where the one before ended: steps are short numbers.

    Steps are counted in tenths of a point, so that they add up to the places of the path.
    """
    x = y = start_x = start_y = 0
    last = ""
    for command, numbers in re.findall(r"([MLCQz])([^MLCQz]*)", path):
        tenths = [round(10 * float(number)) for number in numbers.split()]
        points = list(zip(tenths[::2], tenths[1::2], strict=True))
        if command == "z":
            last, x, y = "z", start_x, start_y
            yield last
            continue
        steps = [step for point in points for step in (point[0] - x, point[1] - y)]
        if command == "M":
            [(start_x, start_y)] = points
            written, steps = "M", tenths
        elif command == "L" and 0 in steps:
            written, steps = ("v", steps[1:]) if steps[0] == 0 else ("h", steps[:1])
        else:
            written = command.lower()
        x, y = points[-1]
        text = "".join(f" {_number(step / 10, 1)}" for step in steps).replace(" -", "-")
        text = re.sub(r"(?<!\d)0\.", ".", text)
        goes_on = written == last and written in "lcq"
        yield text if goes_on else written + text.removeprefix(" ")
        last = written


def _number(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def _short_style(style: str) -> str:
    """A style without the fonts' names, in the page's colours."""
    rules = [rule.strip() for rule in style.split(";")]
    kept = [rule.replace(": ", ":") for rule in rules if rule and "font-family" not in rule]
    short = ";".join(kept)
    for colour, variable in VARIABLES.items():
        short = short.replace(colour, variable)
    # a white edge parts what lies on the page; white text lies on something dark
    return short.replace(f"stroke:{figures.PAPER}", "stroke:var(--paper)")
