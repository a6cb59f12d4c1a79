"""Whole runs are kept, compared, and shown."""

import pytest

from lab.claims.agreement import agreement_of
from lab.claims.rules import Verdict, median
from lab.claims.verdicts import Finding, rows_of
from lab.core.errors import LabError
from lab.core.files import write_json, write_rows
from lab.tools import retest
from stages.report import retest as page
from tests.claim_cases import BY_ID


@pytest.fixture
def machine(project):
    write_json(project / "reports" / "hardware.json", {"cpu": {"model": "this"}})
    return project


def measure(project, verdict: Verdict, *samples: float) -> None:
    found = Finding(BY_ID["A6a"], verdict, median(samples), "cpu-virtual", "")
    write_rows(project / "reports" / "claims", rows_of([found]))


def test_runs_are_kept_in_their_order_and_what_they_differ_in_is_said(machine):
    measure(machine, Verdict.CONFIRMED, *[1.2] * 8)
    assert retest.keep().name == "1.json"
    assert page.section(retest.RETEST).tables == []
    assert "1 run(s) kept" in page.section(retest.RETEST).answer
    measure(machine, Verdict.REFUTED, *[0.8] * 8)
    assert retest.keep().name == "2.json"
    assert list(retest.summary(agreement_of(retest.runs()))) == [
        "2 run(s), 1 pairs of effects",
        "0.0 % differ by no more than their intervals explain (aim: 97 %)",
        "apart: A6a (1)",
        "confirmed in one run, refuted in another: A6a",
    ]
    section = page.section(retest.RETEST)
    assert "0.0 % agree" in section.answer
    assert "one run confirms and another refutes: A6a" in section.findings[-1]
    [[name, says, one, other]] = section.tables[0].rows
    assert (name, says) == ("A6a", BY_ID["A6a"].says)
    assert (one, other) == (
        "✓ 1.2 (1.2 to 1.2: 99.2 % of 8 starts)",
        "✗ 0.8 (0.8 to 0.8: 99.2 % of 8 starts)",
    )


def test_runs_of_another_machine_are_no_retest(machine):
    measure(machine, Verdict.CONFIRMED, *[1.2] * 8)
    retest.keep()
    write_json(machine / "reports" / "hardware.json", {"cpu": {"model": "that"}})
    with pytest.raises(LabError, match="another hardware than this run's; delete reports/retest/"):
        retest.keep()


def test_without_verdicts_there_is_nothing_to_keep_and_damage_is_said(machine):
    with pytest.raises(LabError, match="run `invoke repro` first"):
        retest.keep()
    measure(machine, Verdict.CONFIRMED, *[1.2] * 8)
    path = retest.keep()
    write_json(path, {"claims": [{"id": "A6a", "verdict": "perhaps"}]})
    with pytest.raises(LabError, match="delete it to begin"):
        retest.runs()
