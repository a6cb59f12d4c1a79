"""Whole runs are kept and compared."""

import pytest

from lab.claims.agreement import agreement_of
from lab.claims.rules import Verdict, median
from lab.claims.verdicts import Finding, rows_of
from lab.core.errors import DataError
from lab.core.files import read_json, write_json, write_rows
from lab.tools import retest
from tests.helpers import claim_of, hardware


@pytest.fixture
def machine(project):
    write_json(project / "reports" / "hardware.json", hardware("this"))
    return project


def measure(project, verdict: Verdict, *samples: float) -> None:
    found = Finding(claim_of("A6a"), verdict, median(samples), "cpu-virtual", "")
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


def test_without_verdicts_there_is_nothing_to_keep_and_damage_is_said(machine):
    with pytest.raises(DataError, match="run `invoke repro` first"):
        retest.keep()
    measure(machine, Verdict.CONFIRMED, *[1.2] * 8)
    path = retest.keep()
    whole = read_json(path)
    back = r"; `git checkout reports/retest/1\.json` brings it back if it is committed, else delete"
    for damage in ({"claims": [{"id": "A6a", "verdict": "perhaps"}]}, {"claims": [1]}):
        write_json(path, whole | damage)
        with pytest.raises(DataError, match=r"retest/1\.json: damaged \(claims.*" + back):
            retest.runs(hardware("this"))
    for damage in ({}, {**whole, "hardware": {}}, {**whole, "profile": 3}):
        write_json(path, damage)
        with pytest.raises(DataError, match=r"retest/1\.json: damaged \(.*" + back):
            retest.runs(hardware("this"))
    with pytest.raises(DataError, match=r"retest/1\.json: damaged \(profile: .*" + back):
        retest.keep()
    write_json(machine / "reports" / "hardware.json", {})
    with pytest.raises(DataError, match=r"hardware\.json: damaged \(accelerator: field required"):
        retest.keep()


def test_no_run_is_written_over_and_other_files_are_none(machine):
    measure(machine, Verdict.CONFIRMED, *[1.2] * 8)
    kept = retest.keep()
    kept.rename(kept.with_name("10.json"))
    kept.with_name("2b.json").write_text("{")
    assert retest.keep().name == "11.json"
    assert [path.name for path in retest.paths()] == ["10.json", "11.json"]
