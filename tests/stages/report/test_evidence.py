"""Other machines' results beside this one's: told where they differ, and named where damaged."""

import shutil

import pytest

from lab.core.files import CONDITIONS, MEASURED_ON, ROWS, read_json, read_rows, write_json
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


def test_the_days_of_a_page_are_the_first_and_the_last_that_its_results_record(reports):
    folder = reports / "train"
    for run, day in {"a": "2026-03-01", "b": "2026-01-31", "c": "2026-02-11"}.items():
        write_json(folder / run / CONDITIONS, {MEASURED_ON: day})
    write_json(reports / "scaling" / CONDITIONS, {MEASURED_ON: "2026-03-02"})
    write_json(reports / "landscapes" / CONDITIONS, {"starts": 4})
    (folder / "d").mkdir()
    (folder / "d" / CONDITIONS).write_text("{")
    days = read_evidence(reports).first_and_last_day
    assert days("train") == ["2026-01-31", "2026-03-01"]
    assert days("scaling") == ["2026-03-02"]
    assert days("landscapes") == days("schedules") == []
    assert days("train", "scaling", "landscapes") == ["2026-01-31", "2026-03-02"]


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
