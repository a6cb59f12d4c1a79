"""Functions for a page's text: `{{ claim("D5") }}`, `{% call figure("name") %}...{% endcall %}`."""

import ast
import logging
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from markupsafe import Markup

from lab.core.errors import LabError
from lab.report.code import body_of, coloured, definition
from lab.report.inline_svg import inlined
from lab.report.language import ENGLISH, in_markdown, language, say
from lab.report.page import Explorable, Figure
from lab.report.prose import TextError, block
from lab.report.verdict_words import SHOWN, in_brief
from stages.report.evidence import Evidence
from stages.report.site import CARD, STAGES, links_from, part, published, titles

Calls = Mapping[str, object]  # functions, by the texts' names for them
log = logging.getLogger(__name__)


def of_each_page(name: str, evidence: Evidence) -> Calls:
    """Return the functions that every page's text may call: links and verdicts."""
    links, by_id = links_from(name), {f.claim.id: f for f in evidence.judgements}

    def page(name: str) -> Markup:
        """Return the relative link to a page."""
        return Markup(links[name])

    def question(stage: str) -> Markup:
        """Return a link to a question's page, with its title as the text."""
        return Markup(f"[{titles()[stage]}]({links[stage]})")

    def claim(id_: str) -> Markup:
        """Return a link to a claim's evidence, with its id as the text."""
        return Markup(f"[{id_}]({links['claims']}#claim-{id_})")

    def evidence_of(id_: str) -> Markup:
        """Return a link to a claim, with this machine's verdict and number."""
        if not (found := by_id.get(id_)):
            return claim(id_)
        number = in_markdown(in_brief(found))
        # each case has its own sign
        verdict = number if found.cases else f"{SHOWN[found.verdict].sign} {number}"
        return Markup(f"{claim(id_)} {verdict}")

    def verdict_of(id_: str) -> str:
        """Return the key of a claim's verdict here, with which the text chooses its words."""
        return SHOWN[by_id[id_].verdict].key if id_ in by_id else "untested"

    return {
        "page": page,
        "question": question,
        "claim": claim,
        "evidence": evidence_of,
        "verdict_of": verdict_of,
        "published": published,
    }


def failure(stage: str, error: Exception, of_page: str = "") -> LabError:
    """Return a one-line error for a page, or a part of it, that could not be drawn."""
    what = f"page of {stage}{of_page}"
    if "LAB_DEBUG" in os.environ:
        log.error("%s", what, exc_info=error)
    if isinstance(error, LabError):
        return type(error)(f"{what}: {error}")
    return LabError(
        f"{what}: not drawn ({in_a_word(error)}); if its results come from other code or were"
        f" changed, `invoke remeasure --stage {stage}`; else LAB_DEBUG=1 shows the line"
    )


def in_a_word(error: Exception) -> str:
    """Return an error's type and the first line of its message."""
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"


@dataclass(frozen=True)
class Shown:
    """A figure as a page shows it: its title, its panels as SVG, their files, and its caption."""

    title: Markup
    panels: Sequence[Markup]
    files: Sequence[str]
    caption: Markup


@dataclass
class QuestionCalls:
    """The functions that only a question's text may call, and a record of what they showed.

    Attributes:
        stage: the page's stage.
        folder: the folder for figures.
        figures: the figures that the text may show, by name.
        explorables: the explorables that it may show, by name.
        on_gpu: whether the page's results are a GPU's.
        shown: the figures that it has shown, by name.
        used: the explorables that it has shown.
        failures: the figures that could not be drawn.
    """

    stage: str
    folder: Path
    figures: Mapping[str, Figure] = field(default_factory=dict)
    explorables: Mapping[str, Explorable] = field(default_factory=dict)
    on_gpu: bool = False
    shown: dict[str, Shown] = field(default_factory=dict)
    used: list[str] = field(default_factory=list)
    failures: list[LabError] = field(default_factory=list)

    def by_name(self) -> Calls:
        """Return the functions by the texts' names for them."""
        return {
            "figure": self.figure,
            "explorable": self.explorable,
            "on": self.on,
            "code": code,
            "lines": lines,
            "expect": expect,
            "try_this": self.try_this,
        }

    def figure(self, name: str, caller: Callable[[], str]) -> Markup:
        """Show a figure; the call's text is its title, in bold, and its caption."""
        where = f"stages/{self.stage}/page"
        if name not in self.figures:
            raise TextError(f"{where}: no figure {name}; there are {[*self.figures]}")
        figure = self.figures[name]
        found = re.fullmatch(r"<p><strong>(.+?)</strong>(.*)</p>", block(caller()))
        if not found:
            raise TextError(
                f"{where}: figure {name} begins with no title; write it and the caption as one"
                " paragraph: **What it shows.** ..."
            )
        title, caption = (Markup(text.strip()) for text in found.groups())
        try:
            figure.draw(self.folder)
            if figure.card and language() == ENGLISH:
                figure.card(title.striptags(), self.folder / Path(CARD).name)
        except Exception as error:  # whatever the results are, the rest of the page is shown
            self.failures.append(failure(self.stage, error, f", figure {name}"))
            return part("missing_figure", name)
        panels = [
            Markup(inlined((self.folder / file).read_text(encoding="utf-8"), title.striptags()))
            for file in figure.files
        ]
        self.shown[name] = Shown(title, panels, figure.files, caption)
        return part("figure_of", name, self.shown[name])

    def explorable(self, name: str, title: str, caller: Callable[[], str]) -> Markup:
        """Show an explorable; the call's text says how to read it."""
        self.used.append(name)
        return part("explorable_of", self.explorables[name], title, block(caller()))

    def try_this(self, key: str, value: str, finding: str, *more: str) -> Markup:
        """Say how to change a value of params.yaml, and which findings of `compare` answer."""
        stage, _, *run = key.split(".")  # also for train.runs.NAME
        names = Markup(say(" and ")).join(
            Markup("<code>{}</code>").format(name) for name in (finding, *more)
        )
        name = f"train@{run[0]}" if stage == "train" else stage
        return part("try_this", key, value, name, names, links_from(self.stage)["exercises"])

    def on(self, device: str) -> Markup:
        """Begin a paragraph on what a `cpu` or a `gpu` shows; say if it was measured here."""
        where = {"cpu": say("On a CPU"), "gpu": say("On a GPU")}[device]
        if self.on_gpu == (device == "gpu"):
            return Markup(f"**{say('{where} (measured here):', where=where)}**")
        return Markup(f"**{say('{where}:', where=where)}**")


def code(file: str, name: str = "") -> Markup:
    """Show the code of a file of the project, or of one function in it, without its docstring."""
    text = (STAGES.parent / file).read_text(encoding="utf-8")
    found: Any = definition(text, name) if name else ast.parse(text)
    lines = text.splitlines()
    first, last = (found.lineno, found.end_lineno) if name else (1, len(lines))
    said = found.body[0] if ast.get_docstring(found) is not None else None
    dropped = range(said.lineno, said.end_lineno + 1) if said else range(0)
    kept = [line for n, line in enumerate(lines, 1) if first <= n <= last and n not in dropped]
    shown = re.sub("\n{3,}", "\n\n", "\n".join(kept)).strip("\n")
    return part("code", coloured(shown), file, one_line=False)


def lines(file: str, *functions: str) -> Markup:
    """Show the bodies of a file's functions in sequence: lines to add to a script."""
    text = (STAGES.parent / file).read_text(encoding="utf-8")
    shown = "\n".join(body_of(text, function) for function in functions)
    return part("code", coloured(shown), file, one_line=False)


def expect(caller: Callable[[], str]) -> Markup:
    """Show the effect of a change, folded until the reader has guessed."""
    return part("expect", block(caller()))
