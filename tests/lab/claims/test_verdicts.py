"""Every claim is judged where everything is there, and is no error where something is not."""

import csv
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab.claims.evidence import Column, Evidence, Metric, Read
from lab.claims.ledger import ledger
from lab.claims.needs import A_GPU, OWN_DEVICES, REAL_DATA, TWO_GPUS
from lab.claims.rules import Estimate, Range, at_least, at_most, near, point
from lab.claims.verdicts import Claim, Finding, Verdict, findings_of, judge, rows_of, surprise
from lab.core.files import read_rows
from lab.results.disturbances import LIMIT_PERCENT
from tests import made_up
from tests.claim_cases import BY_ID, CONFIRMED, INCONCLUSIVE, NOT_TESTABLE, REFUTED

NO_NUMBERS = (None, math.nan, math.inf, -math.inf, "", "fast", True, [1.0], {"a": 1}, 10**400)
NO_KINDS = ("tpu", 1, {"a": 1}, ["cuda"])


@pytest.fixture(scope="session")
def server() -> Evidence:
    """Evidence on which every claim can be tested."""
    return made_up.server()


def about_gpus(claim: Claim) -> bool:
    return not {A_GPU, TWO_GPUS}.isdisjoint(claim.wants)


def only(claim: Claim, evidence: Evidence) -> Evidence:
    """The part of the evidence that a claim reads."""
    columns = [read for read in claim.rule.reads if isinstance(read, Column)]
    folders = {read.folder for read in claim.reads}
    rows = {
        f: [
            row
            for row in evidence.rows[f]
            if any(c.folder == f and c.matches(row) for c in columns)
        ]
        for f in folders
    }
    return Evidence({f: evidence.metrics[f] for f in folders}, rows)


def spoilt(evidence: Evidence, read: Read, value: object, delete: bool = False) -> Evidence:
    """Evidence in which what `read` names is deleted or has another value."""
    if isinstance(read, Metric):
        found = {k: v for k, v in evidence.metrics[read.folder].items() if k != read.name}
        found |= {} if delete else {read.name: value}
        return replace(evidence, metrics={**evidence.metrics, read.folder: found})
    changed: list[Mapping[str, Any]] = []
    for row in evidence.rows[read.folder]:
        rest = {k: v for k, v in row.items() if k != read.name}
        changed.append(
            row if not read.matches(row) else rest if delete else rest | {read.name: value}
        )
    return replace(evidence, rows={**evidence.rows, read.folder: changed})


def test_every_claim_is_decided_where_everything_is_there(server):
    for claim in ledger():
        finding = judge(claim, only(claim, server))
        assert finding == judge(claim, server), f"{claim.id} depends on what it does not read"
        assert finding.verdict is not NOT_TESTABLE, f"{claim.id}: {finding.reason}"
        assert finding.estimate is not None
        assert finding.estimate.consistent(), f"{claim.id}: {finding.estimate}"


def test_whatever_is_missing_or_no_number_is_not_testable_and_no_error(server):
    for claim in ledger():
        evidence = only(claim, server)
        for read in claim.reads:
            missing = judge(claim, spoilt(evidence, read, None, delete=True))
            assert missing.verdict is NOT_TESTABLE, (claim.id, read)
            for value in NO_NUMBERS:
                finding = judge(claim, spoilt(evidence, read, value))
                assert finding.verdict is NOT_TESTABLE, (claim.id, read, value)
                assert finding.estimate is None
                assert finding.reason


def test_without_any_evidence_the_reason_names_the_command_that_measures():
    for claim in ledger():
        finding = judge(claim, Evidence({}, {}))
        assert finding.verdict is NOT_TESTABLE, claim.id
        commands = [
            f"`dvc repro {read.folder.replace('/', '@')}` measures it" for read in claim.reads
        ]
        assert any(command in finding.reason for command in commands), claim.id


def test_a_kind_of_device_that_is_none_is_not_testable(server):
    for claim in ledger():
        for kind in NO_KINDS:
            finding = judge(claim, spoilt(server, Metric(claim.folder, "device_kind"), kind))
            assert (finding.verdict, finding.device_kind) == (NOT_TESTABLE, "unknown"), claim.id


def test_a_need_that_is_not_met_is_said(server):
    for claim in ledger():
        for need in claim.needs:
            other = "cpu" if need.metric.name == "device_kind" else "something else"
            finding = judge(claim, spoilt(server, need.metric, other))
            assert finding.verdict is NOT_TESTABLE, claim.id
            assert finding.reason.startswith("needs "), claim.id
            assert f"{need.metric.name} of {need.metric.folder} is {other!r}" in finding.reason


def not_testable(evidence: Evidence, **changes: object) -> set[str]:
    """The claims that cannot be tested if metrics of these names have other values."""
    changed = {
        folder: {**metrics, **{k: v for k, v in changes.items() if k in metrics}}
        for folder, metrics in evidence.metrics.items()
    }
    altered = replace(evidence, metrics=changed)
    return {c.id for c in ledger() if judge(c, altered).verdict is NOT_TESTABLE}


def test_virtual_devices_decide_no_claim_about_gpus_and_look_alikes_none_about_accuracy(server):
    virtual = not_testable(server, device_kind="cpu-virtual", two_devices="cpu-virtual")
    assert virtual == {c.id for c in ledger() if about_gpus(c)}
    assert {"A3", "B1", "C3b", "C5", "G4a"} <= virtual
    assert "C3a" not in virtual, "a question that virtual devices do answer"
    real = {c.id for c in ledger() if REAL_DATA in c.wants}
    assert (
        not_testable(server, dataset="synthetic") | not_testable(server, airfoil="synthetic")
        == real
    )
    assert {"D11", "D12a", "E4", "F8a", "F9a", "F17a", "G11a"} <= real
    shared = not_testable(server, device_kind="cuda-shared", two_devices="cuda-shared")
    assert shared == {c.id for c in ledger() if not {TWO_GPUS, OWN_DEVICES}.isdisjoint(c.wants)}
    assert {"C3a", "C3b", "C3c", "E5a", "G13"} <= shared, "replicas that share a GPU are not two"


# --- times that decide nothing ---

OF_TIMES = re.compile(r"(ms|us|ns|s|%|fraction|GB/s|GFLOP/s|billion sums/s)")  # units of rows
TIMED_CURVES = re.compile(r"step_time|.*_(ms|us|us_per_image)")  # demos of rows without a unit


def reads_times(read: Read, evidence: Evidence) -> bool:
    """Whether what is read are times, rates or shares of times, by its unit or its demo.

    What has one value for each start, and no unit, is a ratio of times.
    """
    if isinstance(read, Metric):
        return f"{read.name}_low" in evidence.metrics[read.folder]
    rows = [row for row in evidence.rows[read.folder] if read.matches(row)]
    units = {str(row["unit"]) if "unit" in row else "" for row in rows}
    demos = {str(row["demo"]) for row in rows if "unit" not in row and "demo" in row}
    return any(map(OF_TIMES.fullmatch, units)) or any(map(TIMED_CURVES.fullmatch, demos))


def test_a_claim_is_of_times_if_it_reads_times(server):
    """What its estimate's samples differ in agrees with the units of what it reads."""
    timed = set()
    for claim in ledger():
        estimate = judge(claim, server).estimate
        assert estimate is not None
        by_units = any(reads_times(read, server) for read in claim.rule.reads)
        assert estimate.timed == by_units, f"{claim.id}: {claim.rule.unit}"
        timed |= {claim.id} if by_units else set()
    assert {"A6a", "A7b", "B1", "B3a", "C3a", "C4", "F12b", "G3a", "G12d", "D9c"} <= timed
    assert not {"A1", "A4", "A7c", "B3c", "C1", "C3d", "C5c", "E4", "F5a", "G2e", "G8a"} & timed


def with_metrics(evidence: Evidence, **more: object) -> Evidence:
    """Evidence of which every stage's metrics hold some more."""
    metrics = {folder: {**found, **more} for folder, found in evidence.metrics.items()}
    return replace(evidence, metrics=metrics)


@pytest.mark.parametrize(
    ("metrics", "reason"),
    [
        ({"busy_percent": 93.2}, "the machine was busy (93.2 % > 20 %)"),
        ({"disturbed": "the machine slept (9 s)"}, "the machine slept (9 s)"),
    ],
)
def test_times_of_a_busy_or_disturbed_machine_decide_nothing_and_counts_stand(
    server, metrics, reason
):
    disturbed = with_metrics(server, **metrics)
    for claim in ledger():
        quiet, found = judge(claim, server), judge(claim, disturbed)
        if not quiet.estimate.timed:
            assert found == quiet, claim.id
            continue
        assert (found.verdict, found.estimate) == (INCONCLUSIVE, None), claim.id
        again = f"`invoke remeasure --stage {claim.stage}` measures again"
        assert found.reason == f"{reason}; {again}", claim.id


def test_a_load_under_the_limit_changes_no_verdict(server):
    loaded = with_metrics(server, busy_percent=LIMIT_PERCENT)
    assert [judge(c, loaded) for c in ledger()] == [judge(c, server) for c in ledger()]


def test_what_needs_two_cores_is_not_testable_with_one(server):
    small = with_metrics(server, not_measurable="needs 2 cores", busy_percent=93)
    found = judge(BY_ID["C3a"], small)
    assert (found.verdict, found.estimate) == (NOT_TESTABLE, None)
    assert found.reason == "stage bench_parallel skipped it: needs 2 cores"
    assert judge(BY_ID["C1"], small) == judge(BY_ID["C1"], server), "counted"


def test_a_missing_device_is_said_before_a_busy_machine(server):
    busy = with_metrics(server, busy_percent=93, device_kind="cpu-virtual")
    assert judge(BY_ID["C3b"], busy).reason.startswith("needs 2 GPUs")


def test_an_interval_that_does_not_hold_its_number_decides_nothing(server):
    claim = BY_ID["C3a"]
    broken = replace(claim.rule, estimate=lambda *values: Estimate(3, 1, 2))
    assert judge(replace(claim, rule=broken), server).verdict is NOT_TESTABLE


# --- the most surprising ---


def finding(claim_id: str, verdict: Verdict, value: float, holds: Range) -> Finding:
    claim = BY_ID[claim_id]
    return Finding(
        replace(claim, rule=replace(claim.rule, holds=holds)), verdict, point(value), "cpu", ""
    )


def test_surprise_is_the_factor_to_the_nearest_number_that_would_do():
    assert surprise(finding("A6a", REFUTED, 0.5, at_least(1))) == pytest.approx(math.log(2))
    assert surprise(finding("A6a", REFUTED, 2, at_most(1))) == pytest.approx(math.log(2))
    assert surprise(finding("A6a", REFUTED, -1, at_least(0.5))) == pytest.approx(math.log(4))
    assert surprise(finding("A6a", REFUTED, 9, near(0, 0))) == pytest.approx(math.log(10))
    assert surprise(finding("A6a", CONFIRMED, 9, at_least(1))) == 0
    assert surprise(Finding(BY_ID["A6a"], NOT_TESTABLE, None, "cpu", "")) == 0


# --- rows ---


def through_a_file(
    rows: Sequence[Mapping[str, object]], path: Path
) -> list[dict[str, float | str]]:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return read_rows(path)


def test_rows_hold_the_findings(server, tmp_path):
    findings = [judge(claim, server) for claim in ledger()]
    read = findings_of(through_a_file(rows_of(findings), tmp_path / "rows.csv"), ledger())
    for was, found in zip(findings, read, strict=True):
        assert (was.claim, was.verdict, was.device_kind) == (
            found.claim,
            found.verdict,
            found.device_kind,
        )
        assert was.estimate is not None
        assert found.estimate is not None
        assert found.estimate.value == pytest.approx(was.estimate.value, rel=1e-5)
        assert found.estimate.low == pytest.approx(was.estimate.low, rel=1e-5)
        assert found.estimate.high == pytest.approx(was.estimate.high, rel=1e-5)
