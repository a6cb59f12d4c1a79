"""What the templates of the page and of the summary fill in."""

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import (
    Environment,
    FileSystemLoader,
    StrictUndefined,
    pass_eval_context,
    select_autoescape,
)
from jinja2.nodes import EvalContext
from markupsafe import Markup, escape

from lab.claims.book_order import BOOK_ORDER
from lab.claims.rules import Verdict
from lab.claims.verdicts import Finding
from lab.core.files import CONDITIONS, REPORTS, read_json
from lab.data.sources import FASHION_FILES
from lab.report import verdicts
from lab.report.benchmarks import devices_in_words
from lab.report.inline_svg import Styles, inlined
from lab.report.language import in_markdown, language, say, section_number, translation
from lab.report.machines import in_one_line, machines_of, notes_on
from lab.report.page import Figure, Section
from lab.results.documents import read_hardware
from stages.report.references import references_in
from stages.report.sections import groups

HERE = Path(__file__).parent
STAGES = HERE.parent
HERO = "together"  # the stage whose figure stands on the first screen
MOST_HEADLINES = 6
SUMMARY_FIGURES = 6  # of the summary for a code host, the first of as many sections
SQUARE, PER_ROW = 9, 34  # pixels and squares of the picture of verdicts


def environment() -> Environment:
    """What reads the templates, with the functions that they call."""
    found = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=select_autoescape(["html.j2"]),
        keep_trailing_newline=True,
        finalize=_escaped,
    )
    found.globals.update(say=say, text=with_tags)
    found.filters["code"] = with_code
    return found


@pass_eval_context
def _escaped(context: EvalContext, value: object) -> object:
    """What is filled in, as text: jinja sees to HTML by itself, this sees to Markdown."""
    return value if context.autoescape else in_markdown(value)


def content(sections: Sequence[Section], samples: Figure, folder: Path) -> dict[str, Any]:
    """What the templates fill in, in the language that is spoken; `folder` holds the figures."""
    source, machines = _source(), machines_of(REPORTS, read_hardware())
    measured_by = machines.all()
    found = verdicts.findings(REPORTS / "claims")
    others = {machine.name: machine.findings for machine in references_in(REPORTS)}
    cards = [verdicts.card(f, others) for f in found]
    by_stage = {stage: [c for c in cards if c.stage == stage] for stage in BOOK_ORDER}
    styles = Styles()
    figures = [figure for section in sections for figure in section.figures] + [samples]
    drawn = {figure.name: _panels(figure, folder, styles) for figure in figures}
    script = _script(sections)
    grouped = _grouped(sections)
    return {
        "language": language(),
        "title": _title(found, measured_by),
        "machine": say("; ").join(map(machine_in_words, measured_by)),
        "chips": [chip(f) if len(measured_by) == 1 else in_one_line(f) for f in measured_by],
        "here": in_one_line(machines.here),
        "elsewhere": len(machines.stages_elsewhere),
        "measured": len(machines.folders),
        "machine_notes": {stage: notes_on(machines, stage) for stage in machines.folders},
        "virtual": all(facts["accelerator"]["count"] == 0 for facts in measured_by),
        "source": source,
        "synthetic": [name for name, origin in source.items() if origin == "synthetic"],
        "files": FASHION_FILES,
        "groups": grouped,
        "data_group": list(grouped).index(say("Data")),
        "all_sections": sections,
        "section_number": section_number,
        "cards": cards,
        "cards_by_stage": by_stage,
        "tallies": {section.stage: _tally(found, section.stage) for section in sections},
        "chapters": sorted({card.chapter for card in cards}),
        "devices": {
            kind: devices_in_words(kind) for kind in sorted({f.device_kind for f in found})
        },
        "picture": _picture(found),
        "tested": verdicts.num_tested(verdicts.of_the_notes(found)),
        "total": len(verdicts.of_the_notes(found)),
        "hero": [
            panel
            for section in sections
            if section.stage == HERO
            for figure in section.figures[:1]
            for panel in _panels(figure, folder, styles)[:1]
        ],
        "headlines": [(s.stage, s.headline) for s in sections if s.headline][:MOST_HEADLINES],
        "summary": [s for s in sections if s.headline and s.figures][:SUMMARY_FIGURES],
        "samples": samples,
        "drawn": drawn,
        "style": Markup((HERE / "templates" / "style.css").read_text(encoding="utf-8")),  # noqa: S704  (our own)
        "figure_styles": Markup(styles.css()),  # noqa: S704  (of our own figures)
        "script": Markup(script),  # noqa: S704  (our own)
        "script_hash": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    }


def _source() -> dict[str, str]:
    """Whether each data set is the original or synthetic, by the results of `fetch`."""
    fetched = read_json(REPORTS / "fetch" / CONDITIONS)
    images = "original" if fetched["dataset"] == "fashion-mnist" else "synthetic"
    return {"fashion_mnist": images, "airfoil": str(fetched["airfoil"])}


def _panels(figure: Figure, folder: Path, styles: Styles) -> list[Markup]:
    """A figure's panels as parts of the page; none if it could not be drawn."""
    files = [folder / name for name in figure.files]
    return [
        Markup(inlined(file.read_text(encoding="utf-8"), figure.alt, styles))  # noqa: S704  (our own)
        for file in files
        if file.is_file()
    ]


def _script(sections: Sequence[Section]) -> str:
    """The page's script: filters of claims, and the explorables that the sections have."""
    own = [
        STAGES / section.stage / "page" / f"{explorable.name}.js"
        for section in sections
        for explorable in section.explorables
    ]
    page, shared, start = (
        (HERE / name).read_text(encoding="utf-8") for name in ("page.js", "explore.js", "start.js")
    )
    slices = "".join(f"{{\n{path.read_text(encoding='utf-8')}}}\n" for path in own)
    # blocks, so that no file's names are another's
    return f'"use strict"\n{{\n{page}}}\n{shared}{slices}{start}'


def _grouped(sections: Sequence[Section]) -> dict[str, list[Section]]:
    by_stage = {section.stage: section for section in sections}
    return {
        heading: [by_stage[stage] for stage in stages if stage in by_stage]
        for heading, stages in groups().items()
    }


def _tally(found: Sequence[Finding], stage: str) -> list[tuple[str, str, str, int]]:
    """A section's verdicts: how each is filtered by, its sign, its name, and how many."""
    own = found if stage == "claims" else [f for f in found if f.claim.stage == stage]
    return [
        (verdicts.FILTERS[v], verdicts.SYMBOLS[v], verdicts.in_words(v), n)
        for v, n in verdicts.counts(own).items()
        if n
    ]


def _picture(found: Sequence[Finding]) -> list[tuple[str, str, str, int, Markup]]:
    """The same of the notes' claims, with a square for each."""
    counts = verdicts.counts(verdicts.of_the_notes(found))
    return [
        (
            verdicts.FILTERS[v],
            verdicts.SYMBOLS[v],
            verdicts.in_words(v),
            counts[v],
            _squares(counts[v]),
        )
        for v in Verdict
        if counts[v]
    ]


def _squares(count: int) -> Markup:
    step = SQUARE + 2
    rows = -(-count // PER_ROW)
    width, last = step * PER_ROW, count - PER_ROW * (rows - 1)
    path = "".join(
        f"M0 {step * row + SQUARE / 2}h{step * (PER_ROW if row < rows - 1 else last)}"
        for row in range(rows)
    )
    return Markup(
        '<svg aria-hidden="true" width="{w}" height="{h}" viewBox="0 0 {w} {h}"><path d="{path}"'
        ' fill="none" stroke="currentColor" stroke-width="{side}"'
        ' stroke-dasharray="{side} 2"/></svg>'
    ).format(w=width, h=step * rows, path=path, side=SQUARE)


def _title(found: Sequence[Finding], machines: Sequence[Mapping[str, Any]]) -> str:
    tested = verdicts.num_tested(verdicts.of_the_notes(found))
    if len(machines) > 1:
        return say(
            "Do the notes' claims hold? {n} tested on {m} machines", n=tested, m=len(machines)
        )
    [facts] = machines
    names = facts["accelerator"]["names"]
    return say(
        "Do the notes' claims hold? {n} tested on {machine}",
        n=tested,
        machine=", ".join(names) if names else say("{n} CPU cores", n=facts["cpu"]["usable_cores"]),
    )


def chip(facts: Mapping[str, Any]) -> str:
    """The hardware in a few words."""
    cpu, names = facts["cpu"], facts["accelerator"]["names"]
    return " · ".join(
        [
            cpu["model"],
            say("{n} usable cores", n=cpu["usable_cores"]),
            f"{cpu['ram_gib']} GiB",
            say(", ").join(names) if names else say("no GPU"),
            f"torch {facts['software']['torch']}",
        ]
    )


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


def with_code(text: str) -> Markup:
    """A text in which `words` between backticks are code."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704  (escaped)


def with_tags(message: str, /, **values: object) -> Markup:
    """A message of the templates whose own tags are tags; what is filled in is text."""
    return Markup(translation(message)).format(**values)  # noqa: S704
