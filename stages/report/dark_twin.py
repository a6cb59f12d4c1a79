"""A figure for a code host's dark theme, which cannot recolour pictures."""

import re

from lab.report import figures
from lab.report.inline_svg import in_page_colours
from stages.report.site import HERE


def dark_twin(svg: str) -> str:
    """Return a figure in the colours of dark pages, without its background."""
    css = (HERE / "templates" / "style.css").read_text(encoding="utf-8")
    of_dark_pages = css.partition("prefers-color-scheme: dark")[2].partition("}")[0]
    colours = dict(re.findall(r"--(\w+): (#\w+)", of_dark_pages))
    shown = in_page_colours(svg.replace(f"fill: {figures.PAPER}", "fill: none", 1))
    shown = shown.replace("currentColor", "var(--ink)")
    return re.sub(r"var\(--(\w+)\)", lambda found: colours[found[1]], shown)
