"""Other machines' results beside this one's: told where they differ, and named where damaged."""

import shutil

import pytest

from lab.claims.rules import Verdict
from lab.core.files import ROWS, read_json, read_rows, write_json
from lab.report.language import speaking
from stages.report import questions
from stages.report.evidence import read_evidence
from tests.helpers import COMMITTED


@pytest.fixture
def reports(tmp_path):
    """The committed verdicts, and this machine's facts, with no reference."""
    shutil.copytree(COMMITTED / "reports" / "claims", tmp_path / "claims")
    shutil.copy(COMMITTED / "reports" / "hardware.json", tmp_path)
    return tmp_path


def keep(reports, name, **changed):
    """Keep the verdicts that are there as a reference, each with some changed columns."""
    claims = [row | changed for row in read_rows(reports / "claims" / ROWS)]
    hardware = read_json(reports / "hardware.json")
    document = {"name": name, "profile": "laptop", "hardware": hardware, "stages": {}}
    write_json(reports / "reference" / f"{name}.json", document | {"claims": claims})


def test_a_snapshot_of_these_very_results_is_no_other_machine(reports):
    keep(reports, "same")
    assert read_evidence(reports).references == []
    keep(reports, "apart", effect=0.5, low=0.4, high=0.6, level=0.992, samples=8, over="starts")
    [other] = read_evidence(reports).references
    assert other.name == "apart"
    assert other.judgements.keys() == {f.claim.id for f in read_evidence(reports).judgements}


def test_a_damaged_reference_is_named_and_left_out(reports):
    keep(reports, "whole")
    keep(reports, "strange", verdict="perhaps")
    (reports / "reference" / "half.json").write_text("{")
    found = read_evidence(reports)
    assert found.references == []
    assert [message.split(":")[0].rsplit("/", 1)[-1] for message in found.damaged] == [
        "half.json",
        "strange.json",
    ]


def test_a_machine_that_tested_what_this_one_could_not_is_told(reports, monkeypatch):
    """Its number stands where else only the need would; the tally counts it apart."""
    measured = {"effect": 0.5, "low": 0.4, "high": 0.6, "level": 0.992, "samples": 8}
    keep(reports, "larger", verdict="confirmed", over="starts", reason="", **measured)
    monkeypatch.chdir(COMMITTED)
    evidence = read_evidence(reports)
    of_page = [f for f in evidence.judgements if f.claim.stage == "bench_async"]
    untested = [f for f in of_page if f.verdict is Verdict.NOT_TESTABLE]
    assert untested
    with speaking("en"):
        page = questions.question("bench_async", reports, evidence).html
    listed = page.split('<details id="verdicts">')[1].split("</details>")[0]
    assert f'larger <span class="tally"><span class="confirmed" title="{len(untested)}' in listed
    for f in untested:
        [item] = [li for li in listed.split("<li>") if f'#claim-{f.claim.id}"' in li]
        assert "larger: ✓ 0.50" in item
