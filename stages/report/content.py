"""What the templates of the page and of the summary fill in."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from lab.core.files import HARDWARE_FILE, REPORTS, read_json
from lab.data.datasets import read_source
from lab.data.download import FASHION_FILES
from lab.report import figures, verdicts
from lab.report.language import say, translation
from lab.report.page import Section
from stages.report.sections import FIGURES
from stages.report.translated_svg import translated


def content(language: str, sections: Sequence[Section]) -> dict[str, Any]:
    """What the templates fill in, in the language that is spoken."""
    source, hardware = read_source(), read_json(HARDWARE_FILE)
    return {
        "language": language,
        "machine": machine_in_words(hardware),
        "virtual": hardware["accelerator"]["count"] == 0,
        "source": source,
        "synthetic": [name for name, origin in source.items() if origin == "synthetic"],
        "files": FASHION_FILES,
        "sections": sections,
        "verdicts": verdicts.by_stage(REPORTS / "claims"),
        "figures": FIGURES,
        "colours": figures.COLOURS,
        "inline": inline,
    }


def inline(path: Path, alt: str) -> Markup:
    """An SVG file for the page: one element with a spoken name, in the page's own ink and paper."""
    svg = translated(path.read_text(encoding="utf-8"))
    svg = svg[svg.index("<svg") :].replace(figures.INK, "currentColor")
    for i, colour in enumerate(figures.COLOURS):
        svg = svg.replace(colour, f"var(--c{i})")  # the page has a lighter set for dark screens
    svg = re.sub(rf"fill: {figures.PAPER}(?=[;\"])", "fill: none", svg)
    name = Markup.escape(alt)
    return Markup(svg.replace("<svg", f'<svg role="img" aria-label="{name}"', 1))  # noqa: S704  (our own figure)


def machine_in_words(facts: Mapping[str, Any]) -> str:
    """The hardware in one line."""
    cpu, accelerator, software = facts["cpu"], facts["accelerator"], facts["software"]
    cores = [say("{n} usable cores", n=cpu["usable_cores"])]
    if cpu["quota_cores"]:
        cores.append(say("held to {n} cores by a quota", n=cpu["quota_cores"]))
    if cpu["omp_num_threads"]:
        cores.append(f"OMP_NUM_THREADS={cpu['omp_num_threads']}")
    return say(
        "{model} ({instructions}), {cores}, {ram} GiB; {gpus}; {os}, Python {python}, torch"
        " {torch}, torchvision {torchvision}",
        model=cpu["model"],
        instructions=cpu["instructions"],
        cores=say(", ").join(cores),
        ram=cpu["ram_gib"],
        gpus=say(", ").join(accelerator["names"] or []) or say("no GPU"),
        os=software["os"],
        python=software["python"],
        torch=software["torch"],
        torchvision=software["torchvision"],
    )


def with_tags(message: str, /, **values: object) -> Markup:
    """A message of the templates whose own tags are tags; what is filled in is text."""
    return Markup(translation(message)).format(**values)  # noqa: S704
