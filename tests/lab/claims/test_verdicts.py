"""How a claim is judged, on claims made up here and on the whole ledger."""

import math
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from lab.claims.evidence import Column, Evidence, Metric, Read
from lab.claims.ledger import ledger
from lab.claims.needs import A_GPU, OWN_DEVICES, REAL_DATA, TWO_GPUS, on_gpu
from lab.claims.rules import FASTER, Verdict, Within, at_least, exact, point, speedup
from lab.claims.verdicts import Claim, Kind, findings_of, judge, rows_of
from lab.core.files import ROWS, read_rows, write_rows
from lab.results.derived import derivation_of
from lab.results.measurements import Results, measurements_of
from tests import made_up

CONFIRMED, REFUTED, INCONCLUSIVE, NOT_TESTABLE = Verdict
OLD, NEW = (Column("s", "value", {"variant": variant}) for variant in ("old", "new"))
TIMED = Claim(
    "X1",
    "13.1",
    Kind.SAID,
    "000:1",
    "New is faster than old.",
    "Old over new.",
    speedup(OLD, NEW, FASTER),
    "What lies within 2 % of 1 is no speed-up.",
)
COUNTED = replace(TIMED, id="X2", rule=exact(Metric("s", "calls"), at_least(2), "calls"))
ON_GPU = replace(TIMED, id="X3", needs=on_gpu("s"))
LEDGER = [TIMED, COUNTED, ON_GPU]


def evidence(old: Sequence[object] = (3.0,) * 8, **metrics: object) -> Evidence:
    """Times of eight starts, new's being 2, and three calls, on a GPU."""
    rows = [{"variant": "old", "value": each} for each in old]
    rows += [{"variant": "new", "value": 2.0} for _ in old]
    return Evidence({"s": {"calls": 3, "device_kind": "cuda", **metrics}}, {"s": rows})


def test_verdicts_by_what_was_measured():
    assert [judge(claim, evidence()).verdict for claim in LEDGER] == [CONFIRMED] * 3
    assert judge(TIMED, evidence([1.0] * 8)).verdict is REFUTED
    assert judge(TIMED, evidence([1.0, 3.0] * 4)).verdict is INCONCLUSIVE
    one_start = judge(TIMED, evidence([3.0]))
    assert one_start.verdict is INCONCLUSIVE
    assert "study" in one_start.reason


@pytest.mark.parametrize("value", ["", "fast", math.nan, 0.0, -1.0])
def test_damaged_times_are_not_testable(value):
    found = judge(TIMED, evidence([value] * 8))
    assert (found.verdict, found.estimate) == (NOT_TESTABLE, None)
    assert found.reason


def test_missing_evidence_names_the_command():
    for claim in LEDGER:
        found = judge(claim, Evidence({}, {}))
        assert found.verdict is NOT_TESTABLE
        assert "`dvc repro s`" in found.reason


def test_one_example_does_not_refute_what_may_be():
    slower = evidence([1.0] * 8)
    for says, verdict in (
        ("New may be faster.", INCONCLUSIVE),
        ("New can be faster.", INCONCLUSIVE),
        ("New can hardly be slower.", REFUTED),
    ):
        assert judge(replace(TIMED, says=says), slower).verdict is verdict
    assert judge(replace(TIMED, says="New may be faster."), evidence()).verdict is CONFIRMED
    asked = replace(TIMED, says="New can be faster.", kind=Kind.ASKED)
    assert judge(asked, slower).verdict is REFUTED, "a question of our own is of this machine"


def test_unmet_need_comes_before_a_busy_machine():
    found = judge(ON_GPU, evidence(device_kind="cpu-virtual", busy_percent=93))
    assert found.verdict is NOT_TESTABLE
    assert "needs a GPU" in found.reason
    assert "device_kind of s is 'cpu-virtual'" in found.reason


@pytest.mark.parametrize(
    ("metrics", "reason"),
    [
        ({"busy_percent": 93.2}, "the machine was busy (93.2 % > 20 %)"),
        ({"disturbed": "the machine slept (9 s)"}, "the machine slept (9 s)"),
    ],
)
def test_times_of_a_disturbed_machine_decide_nothing(metrics, reason):
    found = judge(TIMED, evidence(**metrics))
    assert (found.verdict, found.estimate) == (INCONCLUSIVE, None)
    assert reason in found.reason
    assert "`invoke remeasure --stage s`" in found.reason
    assert judge(COUNTED, evidence(**metrics)) == judge(COUNTED, evidence()), "counts stand"


def test_times_that_need_two_cores_are_not_testable():
    lacking = evidence(not_measurable="needs 2 cores", busy_percent=93)
    found = judge(TIMED, lacking)
    assert (found.verdict, found.estimate) == (NOT_TESTABLE, None)
    assert "needs 2 cores" in found.reason
    assert judge(COUNTED, lacking).verdict is CONFIRMED


def test_what_a_processor_shows_of_gpus_is_our_own_question():
    about_gpus = replace(TIMED, about_gpus=True)
    for claim, device_kind, kind in (
        (TIMED, "cpu-virtual", Kind.SAID),
        (about_gpus, "cpu-virtual", Kind.ASKED),
        (about_gpus, "cuda", Kind.SAID),
        (about_gpus, "cuda-shared", Kind.SAID),
    ):
        found = judge(claim, evidence(device_kind=device_kind))
        assert (found.kind, found.verdict) == (kind, CONFIRMED)
        assert [row["kind"] for row in rows_of([found])] == [kind.value]


# --- every entry of the ledger, where everything is there ---


def test_rows_hold_the_findings_to_six_digits(tmp_path):
    findings = [judge(claim, evidence([2.1234567, *[3.0] * 7])) for claim in LEDGER]
    findings.append(judge(TIMED, Evidence({}, {})))
    rows = rows_of(findings)
    assert {(row["section"], row["places"]) for row in rows} == {("13.1", "000:1")}
    write_rows(tmp_path, rows)
    read = findings_of(read_rows(tmp_path / ROWS), LEDGER)
    for was, found in zip(findings, read, strict=True):
        assert replace(found, estimate=None) == replace(was, estimate=None)
    timed, counted, *_, missing = (found.estimate for found in read)
    assert (timed.value, timed.high, timed.n) == (1.5, 1.5, 8)
    assert timed.low == pytest.approx(2.1234567 / 2, rel=1e-5)
    assert timed.level == pytest.approx(1 - 2 / 256, rel=1e-5)
    assert counted == point(3)
    assert missing is None


@pytest.fixture(scope="session")
def server() -> Evidence:
    """Evidence on which every claim can be tested."""
    return made_up.server()


def test_every_claim_is_decided_where_everything_is_there(server):
    for claim in ledger():
        found = judge(claim, server)
        assert found.verdict is not NOT_TESTABLE, f"{claim.id}: {found.reason}"
        assert found.estimate.consistent(), f"{claim.id}: {found.estimate}"


def test_what_the_processor_beside_a_gpu_does_is_not_told_as_a_gpus(server):
    kinds = {c.id: judge(c, server).device_kind for c in ledger() if c.stage == "bench_hardware"}
    of_processor = {"G1a", "G1b", "G2a", "G2b", "G2d", "G3b", "G3c"}
    assert {claim for claim, kind in kinds.items() if kind == "cpu"} == of_processor
    assert set(kinds.values()) == {"cpu", "cuda"}


def not_testable(server: Evidence, **changes: object) -> set[str]:
    """The claims that cannot be tested if metrics of these names have other values."""
    metrics = {
        folder: {**found, **{k: v for k, v in changes.items() if k in found}}
        for folder, found in server.metrics.items()
    }
    changed = replace(server, metrics=metrics)
    return {claim.id for claim in ledger() if judge(claim, changed).verdict is NOT_TESTABLE}


def wanting(*needs: str) -> set[str]:
    return {claim.id for claim in ledger() if {need.label for need in claim.needs} & set(needs)}


def test_virtual_devices_decide_no_claim_about_gpus(server):
    virtual = not_testable(server, device_kind="cpu-virtual", two_devices="cpu-virtual")
    assert virtual == wanting(A_GPU, TWO_GPUS)
    shared = not_testable(server, device_kind="cuda-shared", two_devices="cuda-shared")
    assert shared == wanting(TWO_GPUS, OWN_DEVICES)


def test_look_alikes_decide_no_claim_about_accuracy(server):
    images = not_testable(server, dataset="synthetic")
    assert images | not_testable(server, airfoil="synthetic") == wanting(REAL_DATA)


OF_TIMES = re.compile(r"(ms|us|ns|s|%|fraction|GB/s|GFLOP/s|billion sums/s)")  # units of rows
TIMED_CURVES = re.compile(
    r"step_time|.*_(ms|us|us_per_image)"
)  # experiments of rows without a unit


def reads_times(read: Read, server: Evidence) -> bool:
    """Whether what is read are times, rates or shares of times, by its unit or its experiment.

    What has one value for each start, and no unit, is a ratio of times.
    """
    if isinstance(read, Metric):
        return f"{read.name}_low" in server.metrics[read.folder]
    rows = [row for row in server.rows[read.folder] if read.matches(row)]
    units = {str(row.get("unit", "")) for row in rows}
    experiments = {
        str(row["experiment"]) for row in rows if "unit" not in row and "experiment" in row
    }
    return any(map(OF_TIMES.fullmatch, units)) or any(map(TIMED_CURVES.fullmatch, experiments))


def rests_on_times(claim: Claim, server: Evidence) -> bool:
    """Whether a claim's number is another if each time of each start is another."""
    generator = np.random.default_rng(0)
    columns = dict.fromkeys(name for row in server.rows[claim.stage] for name in row)
    rows = [
        {
            **dict.fromkeys(columns, ""),
            **row,
            "value": row["value"] * float(generator.uniform(1, 2)),
        }
        if row["value"] != "" and is_a_time(row)
        else {**dict.fromkeys(columns, ""), **row}
        for row in server.rows[claim.stage]
    ]
    derivation = derivation_of(claim.stage)
    found = derivation.findings(Results(measurements_of(rows), server.metrics[claim.stage]))
    return found[claim.rule.finding] != server.finding(claim.stage, claim.rule.finding)


def is_a_time(row) -> bool:
    by_name = not row["unit"] and TIMED_CURVES.fullmatch(str(row["experiment"]))
    return bool(OF_TIMES.fullmatch(str(row["unit"])) or by_name)


def test_claims_that_read_times_are_timed(server):
    """Else a busy machine would decide them."""
    for claim in ledger():
        if isinstance(claim.rule, Within):
            of_times = rests_on_times(claim, server)
        else:
            of_times = any(reads_times(read, server) for read in claim.rule.reads)
        assert judge(claim, server).estimate.timed == of_times, claim.id
