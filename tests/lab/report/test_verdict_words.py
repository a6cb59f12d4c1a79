"""Claims as the page shows them: every verdict has its words, in both languages."""

import re
from dataclasses import replace

import pytest

from lab.claims.ledger import ledger
from lab.claims.rules import Verdict
from lab.claims.verdicts import NO_REASON, Judgement
from lab.core.files import ROWS, read_rows
from lab.report.language import locale
from lab.report.verdict_words import change_of, effect_of, in_brief, range_in_words, scale_on
from lab.results.findings import Finding, Over, exact
from lab.results.reasons import OFF, SKIPPED, UNMET, Reason
from tests.helpers import COMMITTED

CLAIMS = {claim.id: claim for claim in ledger()}
UNITS = {
    str(row["id"]): str(row["unit"]) for row in read_rows(COMMITTED / "reports" / "claims" / ROWS)
}
WORD = re.compile(r"[A-Za-z]{3,}")


def judged(verdict, finding, reason=NO_REASON, name="B3b"):
    return Judgement(CLAIMS[name], verdict, finding, "cpu-virtual", reason, UNITS[name])


INTERVAL = Finding(-1.5, -2, 1234.5, 8, Over.STARTS)


def test_a_number_has_its_unit_and_says_what_its_interval_is():
    varies, unit = judged(Verdict.INCONCLUSIVE, INTERVAL), UNITS["B3b"]
    assert effect_of(varies) == f"−1.5{unit} (−2.0 to 1,200); shares of the CPU"
    of_eight = effect_of(varies, samples=True)
    assert "1,200), 99.2% interval over 8 fresh processes; shares" in of_eight
    few = judged(Verdict.INCONCLUSIVE, Finding(-1.5, -2, 4, 5, Over.SEEDS))
    assert "4.0), range of 5 random seeds, widened to 99%" in effect_of(few, samples=True)
    counted = judged(Verdict.CONFIRMED, exact(3.0))
    assert effect_of(counted, samples=True) == effect_of(counted)
    assert effect_of(counted) == f"3{unit}", "a count is shared by nobody"
    assert "same in every run" in change_of(counted)


def test_in_brief_each_case_has_its_verdict_and_a_missing_number_a_reason():
    one, other = judged(Verdict.CONFIRMED, exact(3.0)), judged(Verdict.REFUTED, INTERVAL)
    both = replace(judged(Verdict.DEPENDS, None), cases=(one, other))
    assert UNITS["B3b"].startswith("%"), "which each case keeps of its unit"
    assert in_brief(both) == f"✓ 3%; ✗ −1.5{UNITS['B3b']} (−2.0 to 1,200)"
    untested = judged(Verdict.NOT_TESTABLE, None)
    without = replace(both, cases=(one, other, untested))
    assert in_brief(without) == f"✓ 3%; ✗ −1.5{UNITS['B3b']} (−2.0 to 1,200); –", "no unit is lost"
    assert in_brief(one) == f"3{UNITS['B3b']}"
    off = Reason(SKIPPED, str(Reason(OFF, "bench_training.peers")))
    for reason, words in ((Reason(UNMET, "gpu"), "needs a GPU"), (off, "PyTorch Lightning")):
        found = in_brief(judged(Verdict.NOT_TESTABLE, None, reason, "C5"))
        assert words in found
        assert "invoke" not in found and "peers" not in found


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
def test_each_verdict_says_what_would_change_it(verdict, finding, words):
    shown = judged(verdict, finding)
    assert words in change_of(shown)
    assert (scale_on(shown) is None) == (finding is None)


def test_an_unmet_need_is_stated_in_the_pages_language():
    claim = next(c for c in CLAIMS.values() if c.needs and c.needs[0].name == "gpu")
    untested = judged(Verdict.NOT_TESTABLE, None, Reason("unmet", "gpu"), claim.id)
    assert effect_of(untested) == "needs a GPU; `invoke repro` on a machine with one measures it"
    with locale("zh"):
        assert set(WORD.findall(effect_of(untested))) <= {"GPU", "invoke", "repro"}


def test_no_claim_has_an_english_sentence_in_chinese():
    """Names and units may stay; three English words in a row count as a sentence."""
    sentence = re.compile(r"(?:\b[a-z]{2,}\b[ ,]+){3}")
    with locale("zh"):
        for claim in CLAIMS.values():
            found = effect_of(judged(Verdict.CONFIRMED, INTERVAL, name=claim.id))
            own = (claim.says.zh, claim.measured.zh, claim.tolerance.zh)
            for text in (*own, range_in_words(claim.holds), found):
                assert not sentence.search(re.sub("`[^`]*`", "", text)), f"{claim.id}: {text}"
