"""A question's page: its text with values, its figures, what can be played with, its verdicts.

A stage tells its question in stages/<name>/page/:

    en.md, zh.md    the text, `title` and `finding` in its front matter
    values.py       `values(folder)`: the numbers and outcomes that the text names, by name
    figures.py      `figures(folder)`: the figures that the text shows
    explorables.py  `explorables(folder)`: what can be played with, if there is anything

`folder` is the stage's under reports. The text calls `figure`, `explorable`, `code` and the
other functions below; a table is Markdown's own.
"""

import ast
import importlib
import importlib.util
import logging
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup

from lab.claims.book_order import PLACES
from lab.core.errors import LabError, NotThereError
from lab.core.files import CONDITIONS, REPORTS, ROWS, read_json
from lab.report import book, verdicts
from lab.report.benchmarks import trust, undecided
from lab.report.inline_svg import inlined
from lab.report.language import CHINESE, language, say
from lab.report.machines import in_one_line, machines_of, notes_on
from lab.report.markup import with_tags
from lab.report.page import Explorable, Figure
from lab.report.prose import Prose, TextError, block, fill_in, inline, read_front
from lab.results.derived import derivation_of
from lab.results.documents import read_conditions, read_hardware, read_results
from stages.report.references import references_in
from stages.report.site import STAGES, links_from, rendered, script_of, templates, text_of, titles

ROOT = STAGES.parent
log = logging.getLogger(__name__)


class Failure(NamedTuple):
    """What could not be drawn and why, in a line, and the exit code that says so."""

    message: str
    exit_code: int


@dataclass(frozen=True)
class Question:
    """A question's page in one language, and what other pages take from it.

    Attributes:
        stage: the stage that measures it.
        title: the question.
        finding: what came out, in a line; empty where the results cannot be shown.
        html: the page.
        how: its part on what to do.
        values: what its text names.
        drawn: files of its figures, by figure.
        problem: why the results cannot be shown, if they cannot.
        failures: what should have been drawn and was not.
    """

    stage: str
    title: Markup
    finding: Markup
    html: str
    how: Markup
    values: Mapping[str, Any]
    drawn: Mapping[str, list[Path]]
    problem: str
    failures: Sequence[Failure] = ()


@dataclass
class Author:
    """What a page's text may call, besides the values that it names.

    Attributes:
        stage: whose page it is.
        folder: where figures are drawn to.
        figures: those that the text may show, by name.
        explorables: what it may offer to play with, by name.
        drawn: files of the figures that it has shown.
        used: the explorables that it has shown.
        failures: the figures that could not be drawn.
        on_gpu: whether the page's results are a GPU's.
    """

    stage: str
    folder: Path
    figures: Mapping[str, Figure]
    explorables: Mapping[str, Explorable]
    drawn: dict[str, list[Path]] = field(default_factory=dict)
    used: list[str] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    on_gpu: bool = False

    def functions(self) -> dict[str, Callable[..., Markup]]:
        """By the names that the text has for them."""
        return {
            "figure": self.figure,
            "explorable": self.explorable,
            "code": code,
            "try_this": try_this,
            "expect": expect,
            "page": page,
            "claim": claim,
            "on": self.on,
        }

    def on(self, device: str) -> Markup:
        """The beginning of a paragraph on what a `cpu` or a `gpu` shows, and if it was this one."""
        where = {"cpu": say("On a CPU"), "gpu": say("On a GPU")}[device]
        here = self.on_gpu == (device == "gpu")
        said = (
            say("{where} (measured here):", where=where) if here else say("{where}:", where=where)
        )
        return Markup(f"**{said}**")

    def figure(self, name: str, caller: Callable[[], str]) -> Markup:
        """Show a figure; the text of the call is its title, in bold, and its caption."""
        if name not in self.figures:
            raise TextError(
                f"stages/{self.stage}/page: no figure {name}; there are {[*self.figures]}"
            )
        figure = self.figures[name]
        try:
            figure.draw(self.folder)
        except Exception as error:  # whatever the results are, the rest of the page is shown
            self.failures.append(failure(self.stage, error, f", figure {name}"))
            return in_a_line(_parts().missing_figure(name))
        self.drawn[name] = [self.folder / file for file in figure.files]
        found = re.fullmatch(r"<p><strong>(.+?)</strong>(.*)</p>", block(caller()))
        if not found:
            raise TextError(
                f"stages/{self.stage}/page: figure {name} begins with no title; write it and the"
                " caption as one paragraph: **What it shows.** ..."
            )
        title, caption = (Markup(text.strip()) for text in found.groups())
        panels = [
            Markup(inlined(file.read_text(encoding="utf-8"), title.striptags()))
            for file in self.drawn[name]
        ]
        return in_a_line(_parts().figure_of(figure, title, panels, caption))

    def explorable(self, name: str, title: str, caller: Callable[[], str]) -> Markup:
        """Offer something to play with; the text of the call says how to read it."""
        self.used.append(name)
        return in_a_line(_parts().explorable_of(self.explorables[name], title, block(caller())))


def code(file: str, name: str = "") -> Markup:
    """The code of a file of the project, or of one function of it, without its docstring."""
    text = (ROOT / file).read_text(encoding="utf-8")
    found: Any = ast.parse(text)
    lines = text.splitlines()
    first, last = 1, len(lines)
    if name:
        [found] = [node for node in found.body if getattr(node, "name", "") == name]
        first, last = found.lineno, found.end_lineno
    said = found.body[0] if ast.get_docstring(found) is not None else None
    dropped = range(said.lineno, said.end_lineno + 1) if said else range(0)
    kept = [line for n, line in enumerate(lines, 1) if first <= n <= last and n not in dropped]
    return Markup(
        "<pre tabindex=0><code>{text}</code></pre>\n"
        '<p class="soft small"><a href="../../{file}">{file}</a></p>\n\n'
    ).format(text=re.sub("\n{3,}", "\n\n", "\n".join(kept)).strip("\n"), file=file)


def try_this(key: str, value: str) -> Markup:
    """How to change a value of params.yaml, and to see what came of it."""
    stage, _, *run = key.split(".")  # also of train.runs.NAME
    return Markup("<p>{how}</p>\n\n").format(
        how=with_tags(
            "Set <code>{key}</code> to <code>{value}</code> in <code>params.yaml</code>, then run"
            " <code>invoke repro --stage {stage}</code> and <code>invoke compare</code>; or"
            " <code>dvc exp run -S '{key}={short}' {stage}</code>.",
            key=key,
            stage=f"train@{run[0]}" if stage == "train" else stage,
            value=value,
            short=value.replace(" ", ""),
        )
    )


def expect(caller: Callable[[], str]) -> Markup:
    """What a change leads to, folded until the reader has guessed."""
    return in_a_line(
        Markup("<details><summary>{summary}</summary>{text}</details>").format(
            summary=say("What to expect"), text=block(caller())
        )
    )


def page(name: str) -> Markup:
    """Where another page is, from a page beside it."""
    return Markup(links_from("claims")[name])


def claim(name: str) -> Markup:
    """A link to a claim's evidence, named by its number."""
    return Markup(f"[{name}]({page('claims')}#claim-{name})")


def question(stage: str, folder: Path) -> Question:
    """A question's page in the language that is spoken, its figures drawn into `folder`."""
    reports = REPORTS / stage
    text = text_of(stage)
    title = inline(read_front(text)["title"])
    problem, prose, values, conditions = "", Prose({}, {}), {}, {}
    author = Author(stage, folder, {}, {})
    try:
        conditions = read_conditions(reports)
        author.on_gpu = str(conditions.get("device_kind", "")).startswith("cuda")
        problem = _decides_nothing(stage, conditions)
        if not problem:
            values = _values(stage, reports)
            figures = _module(stage, "figures").figures(reports)
            author.figures = {figure.name: figure for figure in figures}
            if importlib.util.find_spec(f"stages.{stage}.page.explorables"):
                offered = _module(stage, "explorables").explorables(reports)
                author.explorables = {each.name: each for each in offered}
            prose = fill_in(text, values | author.functions())
    except NotThereError as error:
        problem, prose = str(error), Prose({}, {})
    except Exception as error:  # whatever foreign or damaged results lead to
        problem, prose = _not_drawn(stage, error), Prose({}, {})
        author.failures.append(failure(stage, error))
    html = _html(stage, author, title, prose, problem, conditions)
    return Question(
        stage,
        title,
        prose.front.get("finding", Markup()),
        html,
        prose.parts["do"].html if "do" in prose.parts else Markup(),
        values,
        author.drawn,
        problem,
        author.failures,
    )


def _values(stage: str, reports: Path) -> dict[str, Any]:
    """What a text names: the stage's findings, and what it needs beside them."""
    values, derivation = _module(stage, "values").values, derivation_of(stage)
    if derivation is None or any(reports.glob(f"*/{ROWS}")):  # train: a folder for each run
        return dict(values(reports))
    results = read_results(reports)
    found = derivation.findings(results)
    return {**found, **values(results, found)}


def _module(stage: str, name: str) -> Any:
    return importlib.import_module(f"stages.{stage}.page.{name}")


def _decides_nothing(stage: str, conditions: Mapping[str, Any]) -> str:
    """Why the times of a page that rests on them decide nothing; else nothing."""
    if not getattr(_module(stage, "values"), "OF_TIMES", True):
        return ""
    return undecided(conditions, stage)


def failure(stage: str, error: Exception, part: str = "") -> Failure:
    """That a page, or a part of it, could not be drawn."""
    what = f"page of {stage}{part}"
    if "LAB_DEBUG" in os.environ:
        log.error("%s", what, exc_info=error)
    if isinstance(error, LabError):
        return Failure(f"{what}: {error}", error.exit_code)
    return Failure(
        f"{what}: not drawn ({in_a_word(error)}); if its results come from other code or were"
        f" changed, `invoke remeasure --stage {stage}`; else LAB_DEBUG=1 shows the line",
        LabError.exit_code,
    )


def _not_drawn(stage: str, error: Exception) -> str:
    """Why a page is not shown."""
    if isinstance(error, LabError):
        return str(error)
    return say(
        "This page could not be drawn ({error}). If reports/{stage} comes from other code or was"
        " changed, `invoke remeasure --stage {stage}` measures it again; else the mistake is in"
        " stages/{stage}/page, and LAB_DEBUG=1 shows the line.",
        stage=stage,
        error=in_a_word(error),
    )


def in_a_word(error: Exception) -> str:
    """The kind of an error and the first line of its message."""
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"


def _html(
    stage: str,
    author: Author,
    title: Markup,
    prose: Prose,
    problem: str,
    conditions: Mapping[str, Any],
) -> str:
    machines = machines_of(REPORTS, read_hardware())
    others = {each.name: each.judgements for each in references_in(REPORTS).found}
    found = [f for f in verdicts.judgements(REPORTS / "claims") if f.claim.stage == stage]
    cards = [verdicts.card(f, others) for f in verdicts.by_interest(found)]
    scripts = [STAGES / stage / "page" / f"{name}.js" for name in author.used]
    named, links = titles(), links_from(stage)
    order = [None, *named, None]
    at = order.index(stage)
    before, after = (
        {"title": named[each], "link": links[each]} if each else None
        for each in (order[at - 1], order[at + 1])
    )
    return rendered(
        "question.html.j2",
        stage,
        {
            "title": title,
            "place": _place(stage, machines.all()),
            "notices": synthetic(),
            "machine_notes": notes_on(machines, stage),
            "problem": problem,
            "parts": prose.parts,
            "cards": cards,
            "titles": named,
            "tally": verdicts.tally(found),
            "trust": trust(conditions) if "controls" in conditions and not problem else [],
            "files": _files(stage),
            "before": before,
            "after": after,
            "script": script_of(scripts),
        },
    )


def synthetic() -> list[Markup]:
    """What stands on top of each page if data are not the original ones."""
    try:
        fetched = read_json(REPORTS / "fetch" / CONDITIONS)
    except LabError:
        return []
    origins = {
        "Fashion-MNIST": fetched.get("dataset") == "fashion-mnist",
        "airfoil": fetched.get("airfoil") == "original",
    }
    drawn = [name for name, original in origins.items() if not original]
    if not drawn:
        return []
    return [
        with_tags(
            "<strong>Synthetic data.</strong> No source of {what} could be reached, so seeded"
            " look-alikes were drawn instead. Accuracies say nothing about the real set, and are"
            " not comparable with the book's. With a network, or <code>LAB_DATA_MIRROR</code> set,"
            " <code>invoke remeasure --stage fetch</code> brings the originals.",
            what=say(" and ").join(drawn),
        )
    ]


def _place(stage: str, machines: Any) -> Markup:
    """Where a question stands in the book, and which machine answered it."""
    sections = Markup("、" if language() == CHINESE else ", ").join(
        Markup('<a href="{url}">{number}</a>').format(
            url=book.url(section), number=book.section_number(section)
        )
        for section in PLACES[stage].sections
    )
    return with_tags(
        "Dive into Deep Learning {sections} · {machine}",
        sections=sections,
        machine=say("; ").join(in_one_line(facts) for facts in machines),
    )


def _files(stage: str) -> dict[str, str]:
    """What the page rests on, and where its text can be changed."""
    folder = REPORTS / stage
    data = sorted(folder.rglob("rows.csv"))
    return {
        **{path.as_posix(): f"../{path.relative_to(REPORTS).as_posix()}" for path in data},
        f"stages/{stage}": f"../../stages/{stage}",
    }


def _parts() -> Any:
    return templates().get_template("parts.html.j2").module


def in_a_line(html: object) -> Markup:
    """HTML in one line, which Markdown leaves as it is."""
    return Markup(" ".join(str(html).split("\n")) + "\n\n")
