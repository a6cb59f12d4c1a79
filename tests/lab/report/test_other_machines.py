"""What other machines find of a claim stands beside what this one finds."""

from lab.claims.ledger import ledger
from lab.claims.rules import Verdict, at_least, decide, median
from lab.claims.verdicts import Finding
from lab.report.language import speaking
from lab.report.verdicts import card
from stages.report import catalogue

CLAIM = next(claim for claim in ledger() if claim.id == "B3b")
UNIT = CLAIM.rule.unit
SLOW, FAST = (median([value] * 8) for value in (0.5, 2.0))


def finding(estimate, device_kind="cuda"):
    verdict = decide(estimate, at_least(1)) if estimate else Verdict.NOT_TESTABLE
    return Finding(CLAIM, verdict, estimate, device_kind, "" if estimate else "needs a GPU: …")


def test_machines_with_a_different_verdict_stand_beside_it():
    others = {
        "h200, profile full": {"B3b": finding(FAST)},
        "no GPU": {"B3b": finding(None)},
        "another question": {},
        "old": {"B3b": finding(SLOW, "cpu-virtual")},
    }
    here = finding(None)
    assert card(here, others).elsewhere == (
        f"h200, profile full: ✓ 2.0{UNIT} (2.0–2.0); CUDA GPUs; "
        f"old: ✗ 0.50{UNIT} (0.50–0.50); virtual devices on the CPU"
    )
    assert card(here, others).found == card(here).found, "a claim's own verdict is this machine's"
    assert card(here).elsewhere == ""


def test_machines_that_agree_are_left_out_and_the_unit_is_said_once():
    here = finding(FAST)
    others = {
        "twin": {"B3b": finding(FAST)},
        "slow": {"B3b": finding(SLOW)},
        "virtual": {"B3b": finding(SLOW, "cpu-virtual")},
    }
    assert card(here, others).elsewhere == (
        f"slow: ✗ 0.50 (0.50–0.50); virtual: ✗ 0.50{UNIT} (0.50–0.50); virtual devices on the CPU"
    )


def test_they_are_told_in_the_pages_language():
    chinese = catalogue.read("zh")
    with speaking("zh", chinese):
        told = card(finding(None), {"h200": {"B3b": finding(FAST)}}).elsewhere
    assert told.startswith(f"h200：✓ 2.0{chinese[UNIT]}")
