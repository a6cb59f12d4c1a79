"""Whole runs are kept and compared."""

import pytest

from lab.claims.agreement import agreement_of
from lab.claims.rules import Verdict
from lab.claims.verdicts import NO_REASON, Judgement, rows_of
from lab.core.files import write_json, write_rows
from lab.results.findings import Samples, median
from lab.tools import retest
from tests.helpers import claim_of, hardware


@pytest.fixture
def machine(project):
    write_json(project / "reports" / "hardware.json", hardware("this"))
    return project


def measure(project, verdict: Verdict, *samples: float) -> None:
    found = Judgement(
        claim_of("A6a"),
        verdict,
        median(Samples(samples)),
        "cpu-virtual",
        NO_REASON,
        "times as fast",
    )
    write_rows(project / "reports" / "claims", rows_of([found]))


def test_runs_are_kept_in_their_order_and_what_they_differ_in_is_said(machine):
    measure(machine, Verdict.CONFIRMED, *[1.2] * 8)
    assert retest.keep().name == "1.json"
    measure(machine, Verdict.REFUTED, *[0.8] * 8)
    assert retest.keep().name == "2.json"
    assert list(retest.summary(agreement_of(retest.runs(hardware("this"))))) == [
        "2 run(s), 1 pairs of effects",
        "0.0 % differ by no more than their intervals explain (aim: 97 %)",
        "apart: A6a (1)",
        "confirmed in one run, refuted in another: A6a",
    ]


def test_runs_of_another_machine_are_no_retest(machine):
    measure(machine, Verdict.CONFIRMED, *[1.2] * 8)
    retest.keep()
    retest.keep()
    write_json(machine / "reports" / "hardware.json", hardware("that"))
    assert retest.runs(hardware("that")) == []
    assert retest.keep().name == "1.json"
    assert len(retest.runs(hardware("that"))) == 1
    assert retest.runs(hardware("this")) == []
