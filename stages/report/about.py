"""The pages that belong to no question: index, errata, how to, exercises, claims, machines.

Their texts are in stages/report/page/<name>.<language>.md. A text and its template share one
dictionary of values.
"""

from collections import Counter

from markupsafe import Markup

from lab.claims.book_order import MOVED, PLACES
from lab.claims.rules import Verdict
from lab.claims.verdicts import CPU, GPU_KINDS
from lab.core.files import REPORTS
from lab.report import verdict_words
from lab.report.days import first_and_last_day
from lab.report.language import ENGLISH, language, translation
from lab.report.machines import in_one_line
from lab.report.prose import fill_in
from stages.report import claims_page, machines_page
from stages.report.calls import of_each_page
from stages.report.evidence import Evidence
from stages.report.exercises_page import exercises
from stages.report.front_page import Questions, index, summary
from stages.report.site import (
    HERE,
    INDEX,
    file_of,
    in_brief,
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
    "exercises": "exercises.html.j2",
    "claims": "claims.html.j2",
    "machines": "text.html.j2",
}
SCRIPTS = {"exercises": "exercises.js", "claims": "claims.js"}
GPU_NEEDS = ("gpu", "two_gpus", "pair_of_gpus")  # by their names


def pages(questions: Questions, evidence: Evidence) -> dict[str, str]:
    """Return the pages by their files, in the current language."""
    found_here = {stage: made.values for stage, made in questions.items()}
    of_all = _values(found_here, evidence)
    days = first_and_last_day(REPORTS / stage for stage in PLACES)
    own: dict[str, Values] = {
        INDEX: index(questions, evidence),
        "errata": {},
        "howto": {"boxes": _boxes(questions)},
        "exercises": {"groups": exercises(questions)},
        "claims": claims_page.values(evidence.judgements),
        "machines": machines_page.values(found_here, evidence),
    }
    found = {}
    for name, template in TEMPLATES.items():
        named = of_all | own[name]
        calls = of_each_page(name, evidence)
        prose = fill_in(text_of(name), {**named, **calls}, headings=False)
        content = own[name] | {
            "title": prose.front["title"],
            "parts": prose.parts,
            "in_brief": in_brief(prose),
            "days": days,
            "script": (HERE / SCRIPTS[name]).read_text("utf-8") if name in SCRIPTS else "",
        }
        found[file_of(name, language())] = rendered(template, name, content)
    for old, new in MOVED.items():
        found[file_of(old, language())] = (
            templates()
            .get_template("moved.html.j2")
            .render(language=language(), link=links_from(old)[new], title=titles()[new])
        )
    if language() == ENGLISH:
        found["README.md"] = summary(of_all, questions, evidence)
    return found


def _values(found_here: machines_page.ByStage, evidence: Evidence) -> Values:
    """Return the values for all texts: numbers of the ledger, and the questions' by stage."""
    notes = verdict_words.of_the_notes(evidence.judgements)
    tested = [f for f in notes if f.verdict is not Verdict.NOT_TESTABLE]
    machines = evidence.machines.all()
    return {
        "machine": in_one_line(*machines),
        "profile": translation(evidence.profile),
        "smoke": evidence.smoke,
        "gpus": any(facts["accelerator"]["count"] for facts in machines),
        "total": len(notes),
        "untested": len(notes) - len(tested),
        "on_gpus": sum(f.unmet is not None and f.unmet.name in GPU_NEEDS for f in notes),
        "count": Counter(verdict_words.SHOWN[f.verdict].key for f in notes),
        "on_virtual": sum(
            f.device_kind not in (CPU, *GPU_KINDS)
            and found_here[f.claim.stage].get("num_devices", 1) > 1
            for f in tested
        ),
        "own": len(evidence.judgements) - len(notes),
        "original": not evidence.synthetic,
        "values": found_here,
    }


def _boxes(questions: Questions) -> dict[str, tuple[Markup, Markup]]:
    """Return each stage's task and the HTML that says how to do it."""
    return {
        stage: (made.prose.front["task"], made.prose.parts["do"].html)
        for stage, made in questions.items()
        if "do" in made.prose.parts
    }
