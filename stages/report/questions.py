"""A question's page: its text with values, its figures, explorables and verdicts.

A stage presents its question in stages/<name>/page/:

    en.md, zh.md    the text; `task`, `title`, `finding` and `number` in its front matter
    figures.py      `figures(results, found)`: the figures that the text shows; optionally
                    `values(results, found)`: further names besides findings and conditions
    explorables.py  optionally `explorables(results, found)`

`results` are the stage's results, `found` its findings by name; for `train`, both are mappings by
run. The text may call the functions in `calls.py`; it writes tables in Markdown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from markupsafe import Markup

from lab.claims.rules import Verdict
from lab.claims.verdicts import Judgement
from lab.core.errors import LabError, NotThereError
from lab.core.files import REPORTS, ROWS
from lab.report import verdict_words
from lab.report.benchmarks import trust
from lab.report.days import first_and_last_day
from lab.report.language import language, say
from lab.report.machines import in_one_line, notes_on, speeds
from lab.report.prose import Prose, fill_in
from lab.results.documents import read_conditions
from stages.report.calls import QuestionCalls, Shown, failure, in_a_word, of_each_page
from stages.report.evidence import Evidence
from stages.report.named import doubt_about, named, read_question
from stages.report.site import STAGES, in_brief, part, rendered, script_of, text_of, titles


@dataclass(frozen=True)
class Question:
    """A question's page in one language, and what other pages take from it.

    Attributes:
        html: the page.
        prose: its text; empty if the results cannot be shown.
        values: the text's values, for other pages; empty if they decide nothing.
        shown: its figures, by name.
        problem: why the results cannot be shown, or "".
        doubt: why its numbers decide nothing, or ""; such numbers are grey.
        failures: errors of what could not be drawn.
    """

    html: str
    prose: Prose
    values: Mapping[str, Any]
    shown: Mapping[str, Shown]
    problem: str
    doubt: str
    failures: Sequence[LabError]

    @property
    def finding(self) -> Markup:
        return self.prose.front.get("finding", Markup())


def question(stage: str, folder: Path, evidence: Evidence) -> Question:
    """Make a question's page in the current language, and draw its figures into `folder`."""
    reports = REPORTS / stage
    values: dict[str, Any] = {}
    problem, doubt, prose, conditions = "", "", Prose({}, {}), {}
    calls = QuestionCalls(stage, folder)
    try:
        conditions = read_conditions(reports)
        calls.on_gpu = str(conditions.get("device_kind", "")).startswith("cuda")
        doubt = doubt_about(stage, conditions, evidence.smoke)
        results, found = read_question(stage, reports)
        values = named(stage, results, found)
        figures = _module(stage, "figures").figures(results, found)
        calls.figures = {each.name: each for each in figures}
        if find_spec(f"stages.{stage}.page.explorables"):
            offered = _module(stage, "explorables").explorables(results, found)
            calls.explorables = {each.name: each for each in offered}
        functions = {**of_each_page(stage, evidence), **calls.by_name()}
        prose = fill_in(text_of(stage), values | functions, doubtful=bool(doubt))
    except NotThereError as error:
        problem = str(error)
    except Exception as error:  # whatever foreign or damaged results raise
        problem = _not_drawn(stage, error)
        calls.failures.append(failure(stage, error))
    html = _html(calls, evidence, prose, problem, doubt, conditions)
    told = {} if doubt else values
    return Question(html, prose, told, calls.shown, problem, doubt, calls.failures)


def _module(stage: str, name: str) -> Any:
    return import_module(f"stages.{stage}.page.{name}")


def _not_drawn(stage: str, error: Exception) -> str:
    if isinstance(error, LabError):
        return str(error)
    return say(
        "This page could not be drawn ({error}). If reports/{stage} comes from other code or was"
        " changed, `invoke remeasure --stage {stage}` measures it again; else the mistake is in"
        " stages/{stage}/page, and LAB_DEBUG=1 shows the line.",
        stage=stage,
        error=in_a_word(error),
    )


def _html(
    calls: QuestionCalls,
    evidence: Evidence,
    prose: Prose,
    problem: str,
    doubt: str,
    conditions: Mapping[str, Any],
) -> str:
    stage, machines = calls.stage, evidence.machines
    text = text_of(stage)
    others = {each.name: each.judgements for each in evidence.references}
    judgements = [f for f in evidence.judgements if f.claim.stage == stage]
    return rendered(
        "question.html.j2",
        stage,
        {
            "title": titles()[stage],
            "in_brief": in_brief(prose),
            "days": first_and_last_day([REPORTS / stage]),
            "machine": in_one_line(*machines.of(stage)),
            "profile": evidence.profile,
            "notices": [part("synthetic_data", evidence.synthetic)] if evidence.synthetic else [],
            "machine_notes": notes_on(machines, stage),
            "problem": problem,
            "doubt": doubt,
            "draft": f"stages/{stage}/page/{text.name}" if _has_todo(text) else "",
            "untranslated": text.stem != language(),
            "parts": prose.parts,
            "tally": verdict_words.tally(judgements),
            "judgements": verdict_words.by_interest(judgements),
            "untested": _untested(judgements, others),
            "others": others,
            "filled": _filled(judgements, others),
            "trust": [] if problem else [*trust(conditions, stage), *speeds(conditions)],
            "files": _files(stage),
            "script": script_of([STAGES / stage / "page" / f"{name}.js" for name in calls.used]),
        },
    )


def _has_todo(text: Path) -> bool:
    """Return whether a TODO of `invoke new` is left; a damaged file is reported elsewhere."""
    return text.is_file() and "TODO" in text.read_text("utf-8", "replace")


def _untested(
    judgements: Sequence[Judgement], others: Mapping[str, Mapping[str, Judgement]]
) -> dict[str, list[Judgement]]:
    """Return the judgements without a number on any machine, by the reason."""
    found: dict[str, list[Judgement]] = {}
    for f in judgements:
        if f.verdict is Verdict.NOT_TESTABLE and not verdict_words.elsewhere(f, others):
            found.setdefault(verdict_words.effect_of(f), []).append(f)
    return dict(sorted(found.items(), key=lambda each: each[0].lower()))


def _filled(
    judgements: Sequence[Judgement], others: Mapping[str, Mapping[str, Judgement]]
) -> dict[str, dict[verdict_words.Shown, int]]:
    """Return other machines' tallies of the statements that could not be tested here."""
    untested = {f.claim.id for f in judgements if f.verdict is Verdict.NOT_TESTABLE}
    there = {
        name: [f for id_, f in of.items() if id_ in untested and f.finding]
        for name, of in others.items()
    }
    return {name: verdict_words.tally(found) for name, found in there.items() if found}


def _files(stage: str) -> dict[str, str]:
    """Return links to the page's data and code, by path."""
    data = sorted((REPORTS / stage).rglob(ROWS))
    code = f"stages/{stage}/__main__.py"  # a web site shows no folder
    return {
        **{path.as_posix(): f"../{path.relative_to(REPORTS).as_posix()}" for path in data},
        code: f"../../{code}",
    }
