"""Claims as the page shows them: every verdict has its words, in both languages."""

import re

import pytest

from lab.claims.ledger import ledger
from lab.claims.rules import Verdict
from lab.claims.verdicts import NO_REASON, Judgement
from lab.core.files import ROWS, read_rows
from lab.report.language import speaking
from lab.report.verdicts import card
from lab.results.findings import Finding, Over, exact
from lab.results.reasons import Reason
from tests.helpers import COMMITTED

CLAIMS = {claim.id: claim for claim in ledger()}
UNITS = {
    str(row["id"]): str(row["unit"]) for row in read_rows(COMMITTED / "reports" / "claims" / ROWS)
}
WORD = re.compile(r"[A-Za-z]{3,}")


def judged(verdict, finding, reason=NO_REASON, name="B3b"):
    return Judgement(CLAIMS[name], verdict, finding, "cpu-virtual", reason, UNITS[name])


INTERVAL = Finding(-1.5, -2, 1234.5, 8, Over.STARTS)


def test_a_number_stands_with_its_unit_and_what_its_brackets_hold():
    shown = card(judged(Verdict.INCONCLUSIVE, INTERVAL))
    unit = UNITS["B3b"]
    assert shown.found == f"−1.5{unit} (−2.0 to 1,200); virtual devices on the CPU"
    assert "1,200), 99.2% interval over 8 fresh processes; virtual" in shown.samples
    few = card(judged(Verdict.INCONCLUSIVE, Finding(-1.5, -2, 4, 5, Over.SEEDS)))
    assert "4.0), range of 5 random seeds, widened to 99%" in few.samples
    counted = card(judged(Verdict.CONFIRMED, exact(3.0)))
    assert counted.samples == counted.found == f"3{unit}; virtual devices on the CPU"
    assert "same in every run" in counted.change


@pytest.mark.parametrize(
    ("verdict", "finding", "words"),
    [
        (Verdict.CONFIRMED, INTERVAL, "fails if all of it did"),
        (Verdict.REFUTED, INTERVAL, "holds if all of it did"),
        (Verdict.INCONCLUSIVE, INTERVAL, "one side"),
        (Verdict.INCONCLUSIVE, Finding(1, 1, 1, 1, Over.SEEDS), "More samples"),
        (Verdict.NOT_TESTABLE, None, "none yet"),
    ],
)
def test_what_would_change_a_verdict_is_said(verdict, finding, words):
    shown = card(judged(verdict, finding))
    assert words in shown.change
    assert (shown.scale is None) == (finding is None)


def test_what_a_claim_needs_is_said_in_the_pages_language():
    claim = next(c for c in CLAIMS.values() if c.needs and c.needs[0].name == "gpu")
    untested = judged(Verdict.NOT_TESTABLE, None, Reason("unmet", "gpu"), claim.id)
    assert card(untested).found == "needs a GPU; `invoke repro` on a machine with one measures it"
    with speaking("zh"):
        chinese = card(untested)
    assert set(WORD.findall(chinese.found)) <= {"GPU", "invoke", "repro"}


def test_every_claim_has_a_card_in_chinese_without_english_sentences():
    """Names and units stay; three English words in a row are a sentence."""
    sentence = re.compile(r"(?:\b[a-z]{2,}\b[ ,]+){3}")
    with speaking("zh"):
        for claim in CLAIMS.values():
            shown = card(judged(Verdict.CONFIRMED, INTERVAL, name=claim.id))
            for text in (shown.says, shown.measured, shown.tolerance, shown.holds, shown.found):
                assert not sentence.search(re.sub("`[^`]*`", "", text)), f"{claim.id}: {text}"
