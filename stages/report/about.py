"""The pages that are of no question: the index, errata, how to, and the claims with the method.

Their texts stand in stages/report/page/<name>.<language>.md. What a text names and what its
template shows is one dictionary.
"""

from collections import Counter
from collections.abc import Sequence

from markupsafe import Markup

from lab.claims.agreement import AIM_PERCENT, agreement_of
from lab.claims.book_order import MOVED, PLACES
from lab.claims.ledger import unmeasured
from lab.claims.rules import Verdict
from lab.claims.verdicts import CPU, GPU_KINDS, Judgement, by_interval, false_verdicts
from lab.core.files import REPORTS
from lab.data.sources import FASHION_FILES
from lab.report import verdicts
from lab.report.benchmarks import devices_in_words
from lab.report.language import ENGLISH, language, localized, say
from lab.report.machines import in_one_line
from lab.report.prose import fill_in
from lab.results.documents import read_hardware
from lab.tools import retest
from lab.tools.profiles import OWN_PARAMS
from stages.report.calls import of_each_page
from stages.report.evidence import Evidence, Reference
from stages.report.front_page import Questions, index, summary
from stages.report.site import (
    HERE,
    INDEX,
    file_of,
    head_and_foot,
    links_from,
    rendered,
    templates,
    text_of,
    titles,
)

Values = dict[str, object]

TEMPLATES = {
    INDEX: "text.html.j2",
    "errata": "text.html.j2",
    "howto": "howto.html.j2",
    "claims": "claims.html.j2",
}
GPU_NEEDS = ("gpu", "two_gpus", "pair_of_gpus")  # by their names
MOST_APART = 8  # of a reference's effects, the farthest ones


def pages(questions: Questions, evidence: Evidence) -> dict[str, str]:
    """The pages by their files, in the language that is spoken."""
    of_all = _values(questions, evidence)
    own: dict[str, Values] = {
        INDEX: index(questions, evidence),
        "errata": {},
        "howto": {"boxes": _boxes(questions)},
        "claims": _claims(evidence),
    }
    found = {}
    for name, template in TEMPLATES.items():
        named = of_all | own[name]
        calls = of_each_page(name, evidence)
        prose = fill_in(text_of(name), {**named, **calls}, headings=False)
        content = own[name] | {
            "title": prose.front["title"],
            "parts": prose.parts,
            **head_and_foot(prose, *PLACES),
        }
        found[file_of(name, language())] = rendered(template, name, content)
    for old, new in MOVED.items():
        found[file_of(old, language())] = (
            templates()
            .get_template("moved.html.j2")
            .render(language=language(), link=links_from(old)[new], title=titles()[new])
        )
    if language() == ENGLISH:
        found["README.md"] = summary(of_all, evidence)
    return found


def _values(questions: Questions, evidence: Evidence) -> Values:
    """What all texts name: numbers of the ledger, and the questions' own values by stage."""
    notes = verdicts.of_the_notes(evidence.judgements)
    tested = [f for f in notes if f.verdict is not Verdict.NOT_TESTABLE]
    machines = evidence.machines.all()
    return {
        "machine": in_one_line(*machines),
        "gpus": any(facts["accelerator"]["count"] for facts in machines),
        "total": len(notes),
        "untested": len(notes) - len(tested),
        "on_gpus": sum(f.unmet is not None and f.unmet.name in GPU_NEEDS for f in notes),
        "count": Counter(verdicts.SHOWN[f.verdict].key for f in notes),
        "on_virtual": sum(f.device_kind not in (CPU, *GPU_KINDS) for f in tested),
        "own": len(evidence.judgements) - len(notes),
        "original": not evidence.synthetic,
        "values": {stage: made.values for stage, made in questions.items()},
    }


def _boxes(questions: Questions) -> dict[str, Markup]:
    """What to do, by all pages of the chapter on performance."""
    return {
        stage: made.prose.parts["do"].html
        for stage, made in questions.items()
        if "do" in made.prose.parts and PLACES[stage].sections[0].startswith("13")
    }


def _claims(evidence: Evidence) -> Values:
    """All claims, what did not hold first, and how they were judged."""
    judgements = evidence.judgements
    judged = [f for f in judgements if f.finding]
    return {
        "judgements": verdicts.by_interest(judgements),
        "tally": verdicts.tally(judgements),
        "chapters": sorted({f.claim.section.split(".")[0] for f in judgements}),
        "devices": {
            kind: devices_in_words(kind) for kind in sorted({f.device_kind for f in judgements})
        },
        "num_by_interval": len(by_interval(judgements)),
        "num_false": false_verdicts(judgements),
        "num_judged": len(judged),
        "num_fixed": sum(f.rule_was_fixed for f in judged),
        "retest": agreement_of(retest.runs(read_hardware(), REPORTS / "retest")).of_times,
        "aim_percent": AIM_PERCENT,
        "references": [_beside(each, judgements) for each in evidence.references],
        "damaged": evidence.damaged,
        "wanting": _wanting(judgements),
        "unmeasured": [
            (verdicts.place_in_words(e.at), localized(e.says), localized(e.reason))
            for e in unmeasured()
        ],
        "files": FASHION_FILES,
        "script": (HERE / "claims.js").read_text(encoding="utf-8"),
    }


def _beside(reference: Reference, here: Sequence[Judgement]) -> Values:
    """What a reference's timed effects differ in from this machine's."""
    found = agreement_of([here, list(reference.judgements.values())])
    timed = found.of_times.pairs
    apart = [pair for pair in timed if not pair.agrees]
    apart.sort(key=lambda pair: pair.contradicts, reverse=True)
    return {
        "name": reference.name,
        "gpus": reference.hardware["accelerator"]["names"],
        "cpu": reference.hardware["cpu"],
        "profile": "" if reference.profile == OWN_PARAMS else reference.profile,
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
