"""Other machines' results beside this one's: told where they differ, and named where damaged."""

import shutil

import pytest

from lab.core.files import ROWS, read_json, read_rows, write_json
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
