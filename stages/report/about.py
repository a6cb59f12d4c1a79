"""The pages that are of no question: the index, errata, how to, and the claims with the method.

Their texts stand in stages/report/page/<name>.<language>.md and call the functions below.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from lab.claims.agreement import AIM_PERCENT, Agreement, agreement_of
from lab.claims.book_order import BOOK_ORDER, HEADINGS, PLACES
from lab.claims.claim import Claim
from lab.claims.ledger import unmeasured
from lab.claims.rules import Verdict
from lab.claims.verdicts import (
    CPU,
    GPU_KINDS,
    Judgement,
    by_interval,
    false_verdicts,
    for_the_front,
)
from lab.core.files import REPORTS
from lab.data.sources import FASHION_FILES
from lab.report import verdicts
from lab.report.benchmarks import devices_in_words
from lab.report.book import section_list, section_number
from lab.report.inline_svg import inlined
from lab.report.language import ENGLISH, in_markdown, language, localized, say, translation
from lab.report.machines import Machines, in_one_line, machines_of
from lab.report.markup import with_tags
from lab.report.prose import Prose, fill_in, filled
from lab.results.documents import read_hardware
from lab.tools import retest
from stages.report.questions import Question, in_a_line, synthetic
from stages.report.references import References, references_in
from stages.report.site import HERE, INDEX, file_of, links_from, rendered, script_of, templates

GPU_NEEDS = ("gpu", "two_gpus", "pair_of_gpus")  # by their names
HERO = "together"  # the stage whose figure stands on the first screen
IN_FRONT, OF_A_STAGE = 7, 2  # what did not survive, and how much of it one question may have
MOST_APART = 8  # of a reference's effects, the farthest ones


class About:
    """What all these pages know: the results, and the questions' pages."""

    def __init__(self, questions: Mapping[str, Question]) -> None:
        """Read the results, in the language that is spoken."""
        self.questions = questions
        self.judgements = verdicts.judgements(REPORTS / "claims")
        self.machines: Machines = machines_of(REPORTS, read_hardware())
        self.references: References = references_in(REPORTS)

    def values(self) -> dict[str, object]:
        """What the texts name: numbers of the ledger, and the questions' own values by stage."""
        notes = verdicts.of_the_notes(self.judgements)
        tested = [f for f in notes if f.verdict is not Verdict.NOT_TESTABLE]
        return {
            "machine": self.machine(),
            "gpus": any(facts["accelerator"]["count"] for facts in self.machines.all()),
            "total": len(notes),
            "untested": len(notes) - len(tested),
            "on_gpus": len(_waiting(notes)),
            "count": _counts(notes),
            "on_virtual": sum(f.device_kind not in (CPU, *GPU_KINDS) for f in tested),
            "own": len(self.judgements) - len(notes),
            "original": not synthetic(),
            "values": {stage: made.values for stage, made in self.questions.items()},
        }

    def machine(self) -> str:
        """The machines that measured, in a line."""
        return say("; ").join(in_one_line(facts) for facts in self.machines.all())

    def notices(self) -> list[Markup]:
        """What stands on top of the index where results are not of here, or data not real."""
        found = []
        if elsewhere := len(self.machines.stages_elsewhere):
            found.append(
                with_tags(
                    "<strong>Not of this machine.</strong> {n} of {total} pages have results of"
                    " a different machine than the one that drew them ({here}), and say which."
                    " <code>invoke repro</code> measures them here.",
                    n=elsewhere,
                    total=len(self.machines.folders),
                    here=in_one_line(self.machines.here),
                )
            )
        return found + synthetic()


def pages(questions: Mapping[str, Question]) -> dict[str, str]:
    """The pages by their files, in the language that is spoken."""
    know = About(questions)
    made = {INDEX: index, "errata": errata, "howto": how_to, "claims": claims}
    found = {file_of(name, language()): page(know) for name, page in made.items()}
    return found | ({"README.md": summary(know)} if language() == ENGLISH else {})


def text_file(name: str) -> Path:
    """The file of a page's text in the language that is spoken."""
    return HERE / "page" / f"{name}.{language()}.md"


# --- the index ---


def index(know: About) -> str:
    """The first page: what it is, what did not survive, the questions, and one count of claims."""
    links = links_from(INDEX)
    front = for_the_front(know.judgements, IN_FRONT, OF_A_STAGE)
    functions = {
        "hero": lambda: _parts("hero", _panels(know.questions[HERO], HERO)[:1], links[HERO]),
        "front": lambda: _parts("front", [_card(know, f, links) for f in front]),
        "questions": lambda: _parts("questions", _grouped(know.questions, links)),
        "tally": lambda: _parts(
            "tally", verdicts.tally(verdicts.of_the_notes(know.judgements)), links["claims"]
        ),
        "page": lambda name: Markup(links[name]),
    }
    prose = fill_in(
        text_file(INDEX), know.values() | {"any_in_front": bool(front)} | functions, headings=False
    )
    return rendered(
        "index.html.j2",
        INDEX,
        _of(prose) | {"notices": know.notices(), "script": script_of([], "index.js")},
    )


def _card(know: About, f: Judgement, links: Mapping[str, str]) -> dict[str, object]:
    """How the front tells a judgement: its sentence and number, a picture, and where to read on."""
    return {
        "says": verdicts.in_front(f),
        "scale": verdicts.card(f).scale,
        "verdict": verdicts.FILTERS[f.verdict],
        "link": links[f.claim.stage],
        "title": know.questions[f.claim.stage].title,
    }


def _panels(made: Question, figure: str) -> list[Markup]:
    """A figure's panels; none if it could not be drawn."""
    return [
        Markup(inlined(file.read_text(encoding="utf-8"), made.title.striptags()))
        for file in made.drawn.get(figure, [])
    ]


def _grouped(
    questions: Mapping[str, Question], links: Mapping[str, str]
) -> dict[str, list[dict[str, object]]]:
    """The questions under their headings, each with its sections and what came out."""
    return {
        translation(heading): [
            {
                "stage": stage,
                "title": questions[stage].title,
                "link": links[stage],
                "sections": section_list(PLACES[stage].sections),
                "finding": _finding(questions[stage]),
            }
            for stage in BOOK_ORDER
            if PLACES[stage].heading == heading
        ]
        for heading in HEADINGS
    }


def _finding(made: Question) -> str:
    """What came out, or why there is nothing to tell."""
    if made.problem and made.failures:
        return say("This page could not be drawn.")
    return made.finding or made.problem


def summary(know: About) -> str:
    """What came out, for a code host, which shows Markdown; the project's README has it, too."""
    front, text = filled(
        text_file("summary"), know.values() | {"waiting": _waiting_for_gpus(know.judgements)}
    )
    return (
        templates()
        .get_template("README.md.j2")
        .render(
            title=front["title"],
            text=Markup(text.strip() + "\n"),
            notices=know.notices(),
            hero=know.questions[HERO].title,
        )
    )


# --- errata, and how to ---


def errata(know: About) -> str:
    """What to correct in the notes and in the book."""
    by_id, links = {f.claim.id: f for f in know.judgements}, links_from("errata")

    def verdict_of(claim: str) -> str:
        """A claim's verdict here, by which the text chooses its words."""
        return verdicts.FILTERS[by_id[claim].verdict] if claim in by_id else "untested"

    def evidence(claim: str) -> Markup:
        """A claim's verdict and number here, leading to its evidence."""
        found = by_id.get(claim)
        if not found:
            return Markup(f"[{claim}]({links['claims']}#claim-{claim})")
        return Markup(
            f"[{claim}]({links['claims']}#claim-{claim}) {verdicts.SYMBOLS[found.verdict]}"
            f" {in_markdown(verdicts.measured(found) or verdicts.in_words(found.verdict))}"
        )

    functions = {
        "verdict_of": verdict_of,
        "evidence": evidence,
        "question": lambda name: Markup(f"[{know.questions[name].title}]({links[name]})"),
    }
    prose = fill_in(text_file("errata"), know.values() | functions, headings=False)
    return rendered("text.html.j2", "errata", _of(prose))


def how_to(know: About) -> str:
    """The boxes on what to do, of all pages of the chapter on performance."""
    links = links_from("howto")
    boxes = [
        {"title": made.title, "link": links[stage], "html": made.how, "stage": stage}
        for stage, made in know.questions.items()
        if made.how and PLACES[stage].sections[0].startswith("13")
    ]
    prose = fill_in(text_file("howto"), know.values(), headings=False)
    return rendered("howto.html.j2", "howto", _of(prose) | {"boxes": boxes})


# --- claims, and the method ---


def claims(know: About) -> str:
    """All claims, what did not hold first, and how they were judged."""
    ordered = verdicts.by_interest(know.judgements)
    cards = [
        verdicts.card(f, {r.name: r.judgements for r in know.references.found}) for f in ordered
    ]
    values = know.values() | {
        "num_by_interval": len(by_interval(know.judgements)),
        "num_false": false_verdicts(know.judgements),
        "num_judged": sum(f.finding is not None for f in know.judgements),
        "num_fixed": sum(f.finding is not None and f.rule_was_fixed for f in know.judgements),
        "retest": _retest(),
        "aim_percent": AIM_PERCENT,
        "references": [_beside(each, know.judgements) for each in know.references.found],
        "damaged": list(know.references.damaged),
        "wanting": _wanting(know.judgements),
        "unmeasured": [
            (verdicts.place_in_words(e.at), localized(e.says), localized(e.reason))
            for e in unmeasured()
        ],
        "files": FASHION_FILES,
    }
    prose = fill_in(text_file("claims"), values, headings=False)
    return rendered(
        "claims.html.j2",
        "claims",
        _of(prose)
        | {
            "cards": cards,
            "titles": {stage: made.title for stage, made in know.questions.items()},
            "tally": verdicts.tally(know.judgements),
            "chapters": sorted({card.chapter for card in cards}),
            "devices": {
                kind: devices_in_words(kind)
                for kind in sorted({f.device_kind for f in know.judgements})
            },
            "section_number": section_number,
            "script": script_of([], "claims.js"),
        },
    )


def _retest() -> dict[str, object]:
    """Whether whole runs of this machine agree with each other."""
    found = agreement_of(retest.runs(read_hardware(), REPORTS / "retest")).of_times
    return {
        "runs": found.num_runs,
        "pairs": len(found.pairs),
        "percent": found.percent if found.pairs else 0.0,
        "apart": [f"{claim} ({n})" for claim, n in found.apart.most_common()],
        "flipped": found.contradicted,
    }


def _beside(reference: Any, here: Sequence[Judgement]) -> dict[str, object]:
    """What a reference's timed effects differ in from this machine's."""
    found: Agreement = reference.agreement(here)
    timed = found.of_times.pairs
    apart = [pair for pair in timed if not pair.agrees]
    apart.sort(key=lambda pair: pair.contradicts, reverse=True)
    return {
        "name": reference.name,
        "about": reference.about,
        "timed": len(timed),
        "apart": len(apart),
        "flipped": [p.one.claim.id for p in found.pairs if p.contradicts],
        "farthest": [
            (
                pair.one.claim.id,
                localized(pair.one.claim.says),
                verdicts.verdict_and_number(pair.one),
                verdicts.verdict_and_number(pair.other),
            )
            for pair in apart[:MOST_APART]
        ],
    }


def _wanting(found: Sequence[Judgement]) -> list[tuple[str, int]]:
    """What testing the rest would take, and how many claims wait for it."""
    left_out = say("a comparison that params.yaml leaves out")
    untested = [f.unmet for f in found if f.verdict is Verdict.NOT_TESTABLE]
    return Counter(localized(each.label) if each else left_out for each in untested).most_common()


def _waiting(found: Sequence[Judgement]) -> list[Claim]:
    """The claims that a GPU, or two, would decide."""
    return [f.claim for f in found if f.unmet and f.unmet.name in GPU_NEEDS]


def _waiting_for_gpus(found: Sequence[Judgement]) -> dict[str, list[str]]:
    """Their ids, by stage."""
    waiting = _waiting(found)
    stages = [stage for stage in BOOK_ORDER if any(c.stage == stage for c in waiting)]
    return {stage: [c.id for c in waiting if c.stage == stage] for stage in stages}


# --- parts ---


def _of(prose: Prose) -> dict[str, object]:
    return {"title": prose.front["title"], "parts": prose.parts}


def _parts(macro: str, *given: object) -> Markup:
    """A part of the index, as one line of HTML within its text."""
    return in_a_line(getattr(templates().get_template("index_parts.html.j2").module, macro)(*given))


def _counts(found: Iterable[Judgement]) -> dict[str, int]:
    return {verdicts.FILTERS[v]: n for v, n in verdicts.counts(list(found)).items()}
