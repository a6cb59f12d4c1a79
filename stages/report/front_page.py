"""The index, and its summary for a code host.

Their texts are stages/report/page/index.<language>.md and summary.en.md.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from markupsafe import Markup, escape

from lab.claims.book_order import HEADINGS
from lab.core.files import REPORTS, ROWS
from lab.report import verdict_words
from lab.report.language import in_markdown, say
from lab.report.machines import in_one_line
from lab.report.numbers import duration, duration_span, interval
from lab.report.prose import block, filled
from lab.report.scales import line_through
from lab.report.verdict_words import Shown
from lab.results.disturbances import disturbances_of
from lab.results.findings import Finding
from stages.report.evidence import Evidence
from stages.report.questions import Question
from stages.report.site import INDEX, links_from, part, templates, text_of, titles

HERO = "together"  # the stage with the figure on the first screen
TO = "to_83_s"  # the end of its findings' names: seconds to 83%
Questions = Mapping[str, Question]
Told = tuple[str, Finding | float]  # a number in words, and the number


@dataclass(frozen=True)
class Answer:
    """A question's row in the index.

    Attributes:
        number: the answer, in a word.
        finding: the answer, in a line.
        tally: the number of the notes' statements by verdict.
        own: the number of our own questions.
    """

    number: str
    finding: str
    tally: Mapping[Shown, int]
    own: int


@dataclass(frozen=True)
class Mark:
    """A number on a card's line: its words, its place in percent, and its interval's ends."""

    words: str
    at: float
    low: float
    high: float


def index(questions: Questions, evidence: Evidence) -> dict[str, object]:
    """Return the values of the index, in addition to those of all texts."""
    links = links_from(INDEX)
    answers = {stage: _answer(stage, made, evidence) for stage, made in questions.items()}
    tally = verdict_words.tally(verdict_words.of_the_notes(evidence.judgements))
    hero = questions[HERO]
    shown = None if evidence.smoke else hero.shown.get(HERO)
    elsewhere = _elsewhere(evidence) if hero.doubt else ""
    return {
        "hero": part("hero", shown, links[HERO], hero.doubt, elsewhere),
        "card": card,
        "notes_overlap": _notes_overlap(questions, evidence),
        "questions": part("questions", HEADINGS, answers, links, titles()),
        "tally": part("squares", tally, links["claims"]),
        "notices": notices(evidence),
    }


def card(stage: str, said: Told, found: Told, caller: Callable[[], str]) -> Markup:
    """Render a card: a finding, with the said and the found number as marks on one line."""
    of_both = [(words, interval(number)) for words, number in (said, found)]
    place = line_through([end for _, each in of_both for end in (each.low, each.value, each.high)])
    marks = [
        Mark(words, place(each.value), place(each.low), place(each.high)) for words, each in of_both
    ]
    return part("card", links_from(INDEX)[stage], titles()[stage], block(caller()), *marks)


def _elsewhere(evidence: Evidence) -> str:
    """Return the first figure's numbers from other machines that measured them."""
    found = {
        machine.name: (of.findings.get(f"notes_{TO}"), of.findings.get(f"best_{TO}"))
        for machine in evidence.references
        if (of := machine.taken.get(HERO)) and not disturbances_of(of.conditions)
    }
    return say("; ").join(
        say(
            "{machine}: {before} → {after} ({span})",
            machine=name,
            before=duration(before),
            after=duration(after),
            span=duration_span(after),
        )
        for name, (before, after) in found.items()
        if before and after
    )


def _notes_overlap(questions: Questions, evidence: Evidence) -> tuple[str, Finding] | None:
    """Return a machine and how much the notes' copies overlap on it, which only a GPU shows."""
    if found := questions["bench_overlap"].values.get("notes_overlap"):
        return say("here"), found
    for machine in evidence.references:
        judged = machine.judgements.get("C5")  # without a finding if disturbed
        if judged and judged.finding:
            return machine.name, judged.finding
    return None


def _answer(stage: str, made: Question, evidence: Evidence) -> Answer:
    """Return a question's answer, or why there is none."""
    judgements = [f for f in evidence.judgements if f.claim.stage == stage]
    finding = made.finding or made.problem
    if made.problem and made.failures:
        finding = say("This page could not be drawn.")
    notes = verdict_words.of_the_notes(judgements)
    number = made.prose.front.get("number", Markup())
    return Answer(number, finding, verdict_words.tally(notes), len(judgements) - len(notes))


def notices(evidence: Evidence) -> list[Markup]:
    """Return the notices for results of a different machine, of `smoke` or of synthetic data."""
    machines, found = evidence.machines, []
    if evidence.smoke:
        found.append(part("smoke"))
    if elsewhere := len(machines.stages_elsewhere):
        here = in_one_line(machines.here)
        found.append(part("not_of_here", elsewhere, len(machines.folders), here))
    if evidence.synthetic:
        found.append(part("synthetic_data", evidence.synthetic))
    return found


def summary(values: Mapping[str, object], questions: Questions, evidence: Evidence) -> str:
    """Render the summary as Markdown, for a code host."""
    front, text = filled(text_of("summary"), values)
    return (
        templates()
        .get_template("README.md.j2")
        .render(
            title=front["title"],
            text=Markup(text.strip() + "\n"),
            notices=notices(evidence),
            headings=HEADINGS,
            rows={stage: _row(stage, made, evidence) for stage, made in questions.items()},
        )
    )


def _row(stage: str, made: Question, evidence: Evidence) -> dict[str, object]:
    """Return a question's row in the summary, as Markdown."""
    answer = _answer(stage, made, evidence)
    data = [path for path in (f"{stage}/{ROWS}", f"{stage}/") if (REPORTS / path).exists()]
    figure = next(iter(made.shown.values()), None)
    return {
        "title": _as_markdown(titles()[stage]),
        "number": "not measured" if made.problem else _as_markdown(answer.number) or "–",
        "answer": _as_markdown(answer.finding),
        "tally": answer.tally,
        "own": answer.own,
        "data": data[0] if data else "",  # the folder, if several files
        "figure": figure and (_as_markdown(figure.title), figure.files[0]),
    }


def _as_markdown(text: str) -> Markup:
    """Convert a line of a page, HTML or not, to Markdown."""
    line = in_markdown(escape(text).striptags())
    return Markup(re.sub(r"\\`(.+?)\\`", r"<code>\1</code>", line))
