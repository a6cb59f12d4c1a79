"""The lines that a stage prints at its end: its question, its answer, how many statements hold."""

from jinja2.meta import find_undeclared_variables

from lab.claims.book_order import PLACES
from lab.claims.claim import read_claims
from lab.claims.ledger import claims_file
from lab.claims.verdicts import judge
from lab.core.files import REPORTS
from lab.report.book import section_list
from lab.report.language import ENGLISH
from lab.report.machines import machines_of
from lab.report.prose import environment, inline, read_front
from lab.report.verdict_words import of_the_notes, tally_in_words
from lab.results.diff import Taken
from lab.results.documents import read_conditions, read_hardware
from lab.tools.profiles import is_smoke
from stages.report.named import doubt_about, findings_and_conditions, page_values, read_question
from stages.report.site import STAGES


def answer(stage: str) -> list[str]:
    """Return at most three lines; none for a stage without a page or with meaningless numbers.

    The runs of `train` answer one question: the last run that this machine trains prints it.
    """
    name, smoke = stage.partition("@")[0], is_smoke()
    if smoke or name not in PLACES or machines_of(REPORTS, read_hardware()).elsewhere(name):
        return []
    front = read_front(STAGES / name / "page" / f"{ENGLISH}.md")
    question = f"{front['title']} ({section_list(PLACES[name].sections)})"
    conditions = read_conditions(REPORTS / name)
    if why := doubt_about(name, conditions, smoke):
        return [question, f"  {why}"]
    results, found = read_question(name, REPORTS / name)
    claims = read_claims(claims_file(name), name)[0] if claims_file(name).is_file() else []
    judged = of_the_notes([judge(claim, Taken(found, conditions)) for claim in claims])
    counted = [f"  statements: {tally_in_words(judged)}"] if judged else []
    return [question, f"  {_filled(front['finding'], name, results, found)}", *counted]


def _filled(line: str, stage: str, results: object, found: object) -> str:
    """Return a front matter's line as plain text; call the page's `values` only if needed."""
    values, template = findings_and_conditions(stage, results, found), environment()
    if find_undeclared_variables(template.parse(line)) - values.keys():
        values |= page_values(stage, results, found)
    return str(inline(template.from_string(line).render(values)).striptags())
