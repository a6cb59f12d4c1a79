"""Claims as the page shows them: every verdict has its words, in both languages."""

import re

import pytest

from lab.claims.ledger import ledger
from lab.claims.rules import Estimate, Over, Verdict, point
from lab.claims.verdicts import Finding
from lab.report.language import speaking
from lab.report.verdicts import card, counts, num_tested, verdict_and_number
from stages.report import catalogue

CLAIMS = {claim.id: claim for claim in ledger()}
WORD = re.compile(r"[A-Za-z]{3,}")


def finding(verdict, estimate, reason="", name="A5"):
    return Finding(CLAIMS[name], verdict, estimate, "cpu-virtual", reason)


INTERVAL = Estimate(-1.5, -2, 1234.5, 0.9921875, 8, Over.STARTS)


def test_a_number_stands_with_its_unit_and_what_its_brackets_hold():
    found = card(finding(Verdict.INCONCLUSIVE, INTERVAL)).found
    unit = CLAIMS["A5"].rule.unit
    assert found == (f"−1.5 {unit} (−2 to 1,234: 99.2 % of 8 starts); virtual devices on the CPU")
    exact = card(finding(Verdict.CONFIRMED, point(3.0)))
    assert exact.found.startswith(f"3 {unit}; ")
    assert "same in every run" in exact.change


@pytest.mark.parametrize(
    ("verdict", "estimate", "words"),
    [
        (Verdict.CONFIRMED, INTERVAL, "refuted if all of it did"),
        (Verdict.REFUTED, INTERVAL, "confirmed if all of it did"),
        (Verdict.INCONCLUSIVE, INTERVAL, "one side"),
        (Verdict.INCONCLUSIVE, Estimate(1, 1, 1, 0.5, 1, Over.SEEDS), "More samples"),
        (Verdict.NOT_TESTABLE, None, "none yet"),
    ],
)
def test_what_would_change_a_verdict_is_said(verdict, estimate, words):
    shown = card(finding(verdict, estimate))
    assert words in shown.change
    assert (shown.scale is None) == (estimate is None)


def test_what_a_claim_needs_is_said_in_the_pages_language():
    claim = next(c for c in CLAIMS.values() if c.needs and c.needs[0].label == "a GPU")
    reason = f"needs a GPU: device_kind of {claim.folder} is 'cpu'; whatever"
    untested = finding(Verdict.NOT_TESTABLE, None, reason, claim.id)
    assert card(untested).found == "needs a GPU; `invoke repro` on a machine with one measures it"
    with speaking("zh", catalogue.read("zh")):
        chinese = card(untested)
    assert set(WORD.findall(chinese.found)) <= {"GPU", "invoke", "repro"}


def test_what_a_stage_left_out_is_said_in_the_pages_language():
    reason = "stage bench_training skipped it: needs a CUDA GPU"
    with speaking("zh", catalogue.read("zh")):
        found = card(finding(Verdict.NOT_TESTABLE, None, reason)).found
    assert set(WORD.findall(found)) <= {"CUDA", "GPU"}
    assert "CUDA GPU" in found


def test_what_a_busy_machine_kept_from_an_answer_is_said_in_the_pages_language():
    again = "`invoke remeasure --stage bench_compile` measures again"
    reason = f"the machine was busy (93.2 % > 20 %); the machine slept (12 s); {again}"
    busy = finding(Verdict.INCONCLUSIVE, None, reason)
    shown = card(busy)
    assert shown.found == reason
    assert "quiet machine" in shown.change
    assert (shown.word, shown.scale) == ("inconclusive", None)
    assert verdict_and_number(busy) == "≈"
    assert num_tested([busy, finding(Verdict.NOT_TESTABLE, None)]) == 1
    with speaking("zh", catalogue.read("zh")):
        chinese = card(busy)
    assert set(WORD.findall(chinese.found)) <= {"invoke", "remeasure", "stage", "bench", "compile"}
    assert "93.2 % > 20 %" in chinese.found
    assert not WORD.search(chinese.change)


def test_what_one_core_cannot_measure_is_said_in_the_pages_language():
    lacking = finding(Verdict.NOT_TESTABLE, None, "stage bench_parallel skipped it: needs 2 cores")
    assert card(lacking).found == "left out here: needs 2 cores"
    with speaking("zh", catalogue.read("zh")):
        assert not WORD.search(card(lacking).found)


def test_every_claim_has_a_card_in_chinese_without_english_sentences():
    """Names and units stay; three English words in a row are a sentence."""
    sentence = re.compile(r"(?:\b[a-z]{2,}\b[ ,]+){3}")
    with speaking("zh", catalogue.read("zh")):
        for claim in CLAIMS.values():
            shown = card(finding(Verdict.CONFIRMED, INTERVAL, name=claim.id))
            for text in (shown.says, shown.measured, shown.tolerance, shown.holds, shown.found):
                assert not sentence.search(re.sub("`[^`]*`", "", text)), f"{claim.id}: {text}"


def test_counts_hold_every_verdict():
    found = counts([finding(Verdict.REFUTED, INTERVAL), finding(Verdict.REFUTED, INTERVAL)])
    assert found[Verdict.REFUTED] == 2
    assert sum(found.values()) == 2
    assert list(found) == list(Verdict)
