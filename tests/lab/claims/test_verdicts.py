"""The ledger and its verdicts: rules against closed forms, and what they say when something is
missing.
"""

import csv
import json
import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.claims.evidence import Column, Evidence, Metric, NotTestableError, Read
from lab.claims.ledger import ledger
from lab.claims.needs import A_GPU, TWO_GPUS
from lab.claims.rules import (
    Estimate,
    Range,
    Verdict,
    at_least,
    at_most,
    band_ratio,
    decide,
    farthest,
    median,
    near,
    point,
    times_ratio,
)
from lab.claims.verdicts import (
    Claim,
    Finding,
    findings_of,
    judge,
    most_surprising,
    rows_of,
    surprise,
)
from lab.core.exit_codes import run
from lab.core.files import read_rows, write_metrics, write_rows
from lab.report import verdicts
from lab.report.language import speaking
from lab.report.page import Link
from stages.bench_compile import claims as bench_compile_claims
from stages.bench_hardware import claims as bench_hardware_claims
from stages.bench_input import claims as bench_input_claims
from stages.bench_parallel import claims as bench_parallel_claims
from stages.claims import __main__ as claims
from stages.claims import section as report_claims
from stages.landscapes import claims as landscapes_claims
from stages.optimizers import claims as optimizers_claims
from stages.parallelism import claims as parallelism_claims
from stages.report import catalogue
from stages.scaling import claims as scaling_claims
from stages.schedules import claims as schedules_claims
from stages.train import claims as train_claims
from tests import made_up
from tests.helpers import ROOT
from tests.pipeline.test_architecture import PIPELINE, STAGES

CONFIRMED, REFUTED, INCONCLUSIVE, NOT_TESTABLE = Verdict
BY_ID = {claim.id: claim for claim in ledger()}
THEORY = ("landscapes", "optimizers", "schedules", "replicas", "parallelism", "convergence")
FOLDERS = sorted({read.folder for claim in ledger() for read in claim.reads})
EVERY_CLAIM = pytest.mark.parametrize("claim", ledger(), ids=lambda claim: claim.id)
numbers = st.floats(-1e6, 1e6)


def about_gpus(claim: Claim) -> bool:
    return not {A_GPU, TWO_GPUS}.isdisjoint(claim.wants)


# --- evidence of a machine on which every claim can be tested
# --------------------------------------------------


def write_training(folder: Path, net: str, num_devices: int, batch_size: int, lr: float) -> None:
    metrics = {
        "net": net,
        "precision": "fp32",
        "dataset": "fashion-mnist",
        "train_images": 60_000,
        "num_epochs": 10,
        "batch_size": batch_size,
        "lr": lr,
        "device_kind": "cuda",
        "num_devices": num_devices,
        "test_accuracy_percent": 84.0,
    }
    write_metrics(folder, metrics)
    epochs = range(1, 11)
    write_rows(
        folder,
        [{"epoch": e, "test_accuracy": 0.8, "seconds": 10 / num_devices + e / 1e3} for e in epochs],
    )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """What a machine with two GPUs and real data might leave: made-up benchmarks, the committed
    theory.
    """
    reports = tmp_path_factory.mktemp("reports")
    for stage in THEORY:
        shutil.copytree(ROOT / "reports" / stage, reports / stage)
    for stage in made_up.BENCHES:
        made_up.write(stage, reports, "cuda")
    for name, settings in {
        "lenet_1gpu": ("lenet", 1, 256, 0.2),
        "lenet_2gpu": ("lenet", 2, 256, 0.2),
        "resnet18_1gpu": ("resnet18", 1, 256, 0.1),
        "resnet18_2gpu": ("resnet18", 2, 512, 0.2),
        "resnet18_1gpu_b512": ("resnet18", 1, 512, 0.2),
    }.items():
        write_training(reports / "train" / name, *settings)
    found = claims.gather(reports, FOLDERS)
    two_workers = {
        "lenet_2workers_speedup": 1.5,
        "lenet_2workers_speedup_low": 1.4,
        "lenet_2workers_speedup_high": 1.6,
    }
    longer = [
        {"demo": bench_parallel_claims.LONGER, "arm": arm, "value": t, "remark": ""}
        for arm, t in ((bench_parallel_claims.BOTH, 10.0), (bench_parallel_claims.CURRENT, 5.0))
        for _ in range(12)
    ]
    cores = [
        {"demo": demo, "arm": arm, "x": 16.0, "value": 1000.0, "device_kind": "cpu", "remark": ""}
        for demo, arm in (("peak", "float32"), ("bandwidth", "copy"))
        for _ in range(12)
    ]
    rows = dict(found.rows)
    rows["bench_parallel"] = [*rows["bench_parallel"], *longer]
    rows["bench_hardware"] = [*rows["bench_hardware"], *cores]
    metrics = dict(found.metrics)
    metrics["bench_training"] = {**metrics["bench_training"], **two_workers}
    return Evidence(metrics, rows)


def only(claim: Claim, evidence: Evidence) -> Evidence:
    """Return the part of the evidence that a claim reads."""
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
    """Return evidence in which what `read` names is deleted or has another value."""
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


@EVERY_CLAIM
def test_every_claim_is_decided_where_everything_is_there(claim, server):
    finding = judge(claim, server)
    assert finding.verdict is not NOT_TESTABLE, finding.reason
    assert finding.estimate is not None
    assert finding.estimate.consistent()


# What the numbers of tests/made_up.py, and those added above, must come to.
MADE_UP = {
    "A3": (REFUTED, 36 / 20),
    "A6a": (CONFIRMED, 40 / 32),
    "A6c": (CONFIRMED, 36 / 32),
    "B1": (CONFIRMED, 40 / 0.2),
    "B2": (CONFIRMED, 20 / 0.2),
    "B3": (CONFIRMED, 0.01),
    "C2": (CONFIRMED, 49.9),
    "C3a": (CONFIRMED, 2 / 1.25),
    "C3c": (REFUTED, 2),
    "C4": (CONFIRMED, 80 / 44),
    "C5": (REFUTED, 0),
    "G1": (CONFIRMED, 150),
    "G2": (CONFIRMED, 8),
    "G3": (CONFIRMED, 10),
    "G4a": (CONFIRMED, 50),
    "G4b": (CONFIRMED, 3),
    "G5": (CONFIRMED, 4),
    "G12b": (REFUTED, 1),
    "D10": (CONFIRMED, 100 * 6 / 33),
    "D11": (CONFIRMED, 84),
    "D12a": (CONFIRMED, 0),
    "D12d": (REFUTED, 1.5),
    "E4": (REFUTED, 84),
    "E5a": (CONFIRMED, 2),
    "E5b": (CONFIRMED, 0),
    "E5c": (REFUTED, 9 / 6),
}


@pytest.mark.parametrize("claim_id", MADE_UP)
def test_made_up_results_get_the_verdict_and_the_number_that_they_were_made_for(claim_id, server):
    found = judge(BY_ID[claim_id], server)
    assert found.estimate is not None
    assert (found.verdict, found.estimate.value) == (
        MADE_UP[claim_id][0],
        pytest.approx(MADE_UP[claim_id][1], rel=3e-3, abs=1e-9),
    )


def test_one_cell_that_is_no_number_spoils_its_column(server):
    claim = BY_ID["G5"]
    rows = list(server.rows["bench_hardware"])
    [first, *_] = [i for i, row in enumerate(rows) if row["arm"] == "launch"]
    rows[first] = {**rows[first], "value": ""}
    found = judge(claim, replace(server, rows={**server.rows, "bench_hardware": rows}))
    assert found.verdict is NOT_TESTABLE
    assert found.reason.startswith("no numbers in column value")


@EVERY_CLAIM
def test_whatever_is_missing_or_no_number_is_not_testable_and_no_error(claim, server):
    evidence = only(claim, server)
    assert judge(claim, evidence).verdict is not NOT_TESTABLE
    for read in claim.reads:
        assert judge(claim, spoilt(evidence, read, None, delete=True)).verdict is NOT_TESTABLE
        for value in (
            None,
            math.nan,
            math.inf,
            -math.inf,
            "",
            "fast",
            True,
            [1.0],
            {"a": 1},
            10**400,
        ):
            finding = judge(claim, spoilt(evidence, read, value))
            assert finding.verdict is NOT_TESTABLE, (read, value)
            assert finding.estimate is None
            assert finding.reason


@EVERY_CLAIM
def test_without_any_evidence_the_reason_names_the_command_that_measures(claim):
    finding = judge(claim, Evidence({}, {}))
    assert finding.verdict is NOT_TESTABLE
    commands = [f"`dvc repro {read.folder.replace('/', '@')}` measures it" for read in claim.reads]
    assert any(command in finding.reason for command in commands)


@EVERY_CLAIM
def test_zeros_and_negative_numbers_are_no_error(claim, server):
    for value in (0, -1):
        evidence = only(claim, server)
        for read in claim.rule.reads:
            evidence = spoilt(evidence, read, value)
        judge(claim, evidence)


@EVERY_CLAIM
@pytest.mark.parametrize("kind", ["tpu", 1, {"a": 1}, ["cuda"]], ids=str)
def test_a_kind_of_device_that_is_none_is_not_testable(claim, kind, server):
    finding = judge(claim, spoilt(server, Metric(claim.folder, "device_kind"), kind))
    assert (finding.verdict, finding.device_kind) == (NOT_TESTABLE, "unknown")


@pytest.mark.parametrize("claim", [c for c in ledger() if c.needs], ids=lambda claim: claim.id)
def test_a_need_that_is_not_met_is_said(claim, server):
    for need in claim.needs:
        other = "cpu" if need.metric.name == "device_kind" else "something else"
        finding = judge(claim, spoilt(server, need.metric, other))
        assert finding.verdict is NOT_TESTABLE
        assert finding.reason.startswith("needs ")
        assert f"{need.metric.name} of {need.metric.folder} is {other!r}" in finding.reason


def test_virtual_devices_decide_no_claim_about_gpus_and_look_alikes_none_about_accuracy(server):
    def altered(**changes: object) -> Evidence:
        return replace(
            server,
            metrics={
                f: {**m, **{k: v for k, v in changes.items() if k in m}}
                for f, m in server.metrics.items()
            },
        )

    virtual = {
        c.id
        for c in ledger()
        if judge(c, altered(device_kind="cpu-virtual")).verdict is NOT_TESTABLE
    }
    assert virtual == {c.id for c in ledger() if about_gpus(c)}
    assert {"A3", "B1", "C3b", "C5", "E5a", "G4a"} <= virtual
    assert "C3a" not in virtual, "a question that virtual devices do answer"
    synthetic = {
        c.id for c in ledger() if judge(c, altered(dataset="synthetic")).verdict is NOT_TESTABLE
    }
    assert synthetic == {"D11", "D12a", "D2a", "E4", "E5b", "F20c", "G11a", "G11b"}
    made = {
        c.id for c in ledger() if judge(c, altered(airfoil="synthetic")).verdict is NOT_TESTABLE
    }
    assert {"F8", "F9a", "F10", "F17a"} <= made
    shared = {
        c.id
        for c in ledger()
        if judge(c, altered(device_kind="cuda-shared")).verdict is NOT_TESTABLE
    }
    assert shared == {"C3a", "C3b", "C3c", "E5a", "E5c", "G13"}, (
        "replicas that share a GPU are not two"
    )


# --- each rule, for each verdict it can give
# -------------------------------------------------------------------

Values = tuple[Any, ...]


def band_values(low: float, high: float) -> Values:
    """Six columns, of which the first three over the last three lie in [low, high]."""
    return ([9, (low + high) / 2], [9, low], [9, high], [7, 1], [7, 1], [7, 1])


MAKERS: dict[Callable[..., Estimate], Callable[[float, float], Values]] = {
    Estimate: lambda low, high: ((low + high) / 2, low, high),
    point: lambda low, high: (low,),
    median: lambda low, high: ([low, high],),
    band_ratio: lambda low, high: ((low + high) / 2, low, high, 1, 1, 1),
    times_ratio: lambda low, high: ([low, high], [1, 1]),
    optimizers_claims.last_ratio: band_values,
    schedules_claims.last_difference: lambda low, high: (
        [(low + high) / 200],
        [low / 100],
        [high / 100],
        [0.0],
        [0.0],
        [0.0],
    ),
    train_claims.median_gap: lambda low, high: ([0.5 + low / 100, 0.5 + high / 100], [0.5, 0.5]),
    bench_input_claims.step_over_step: lambda low, high: tuple(
        [[low / 6, high / 6]] * 6 + [[1 / 6, 1 / 6]] * 6
    ),
    bench_input_claims.compute_over_sync: lambda low, high: (
        [low / 2, high / 2],
        [low / 2, high / 2],
        [1, 1],
    ),
    bench_hardware_claims.most_over_least: lambda low, high: ([1, 1, 2, 2], [1, 1, low, high]),
    bench_hardware_claims.over_the_most: lambda low, high: (
        [low, high],
        [1, 1, 2, 2],
        [9, 9, 1, 1],
    ),
    bench_input_claims.idle_share: lambda low, high: (
        2.0,
        [0.5, 0.5],
        *[[(100 / low - 1) / 6, (100 / high - 1) / 6]] * 6,
    ),
}
POINTS = (
    point,
    landscapes_claims.farthest_mark,
    landscapes_claims.last_over_first,
    optimizers_claims.last_step_over_first,
    optimizers_claims.quadratic_ratio,
    optimizers_claims.share_lower,
    optimizers_claims.rank_of_the_first,
    schedules_claims.most_failures,
    farthest,
    parallelism_claims.moved,
    parallelism_claims.held,
    parallelism_claims.smaller_factor,
    scaling_claims.share_of_communication,
)
BEST, WORST = (
    (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0),
    (9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0),
)
FIVE_FASTER, FIVE_SLOWER, FIVE_UNSURE = (
    (1.5, 1.4, 1.6) * 5,
    (0.5, 0.4, 0.6) * 5,
    (1.1, 0.9, 1.3) * 5,
)
CASES: dict[str, dict[Verdict, Values]] = {
    "F2a": {CONFIRMED: (1.09, 1.02), REFUTED: (1.09, 1.085)},
    "F2b": {CONFIRMED: (1.09, 1.02, -1.05, -1.21), REFUTED: (1.09, 1.02, -1.05, -1.26)},
    "F4a": {CONFIRMED: (-2.0, 2.0), REFUTED: (1.0, 2.0)},
    "F4b": {CONFIRMED: ([0.5, 0.1, 0.0],), REFUTED: ([0.5, 0.5, 0.4],)},
    "F9a": {
        CONFIRMED: (0.24, [0.002], [0.001], [0.003]),
        REFUTED: (0.24, [0.1], [0.09], [0.11]),
        INCONCLUSIVE: (0.24, [0.01], [0.001], [0.1]),
    },
    "F12b": {
        CONFIRMED: (19.0, 0.2, 18.0, 0.2),
        REFUTED: (36.0, 0.2, 18.0, 0.2),
        INCONCLUSIVE: (22.0, 2.0, 18.0, 2.0),
    },
    "F13": {CONFIRMED: ([0, 1, 1.1], [0, 0, 0]), REFUTED: ([0, 1, 2], [0, 0, 0])},
    "F14a": {CONFIRMED: (-2.4, -0.2, 0.0, 0.01), REFUTED: (0.0, 0.01, -2.4, -0.2)},
    "F14b": {CONFIRMED: ([1, 1, 1], [2, 2, 0]), REFUTED: ([1, 1, 1], [2, 0, 0])},
    "F17a": {CONFIRMED: BEST * 3, REFUTED: WORST * 3},
    "F20a": {CONFIRMED: ([1, 2], [0, 0.6]), REFUTED: ([1, 2], [0.1, 0.2])},
    "F20b": {
        CONFIRMED: ([1, 2], [0.5, 1], [0, 0.1]),
        REFUTED: ([1, 2], [0.5, 1], [0.3, 0.6]),
        INCONCLUSIVE: ([1, 2], [0.5, 1], [0, 0.6]),
    },
    "A4": {CONFIRMED: ([0, -1e-6],), REFUTED: ([0, -1e-3],)},
    "A6b": {
        CONFIRMED: ([1] * 20, [1] * 20, [2, 2], [1, 1]),
        REFUTED: ([1] * 20, [5000] * 20, [2, 2], [1, 1]),
        INCONCLUSIVE: ([1] * 20, [1] * 20, [2, 0.5], [1, 1]),
    },
    "A7a": {CONFIRMED: ([0.0],), REFUTED: ([0.1],)},
    "A7b": {CONFIRMED: FIVE_FASTER, REFUTED: FIVE_SLOWER, INCONCLUSIVE: FIVE_UNSURE},
    "B4": {CONFIRMED: ([3, 3],), REFUTED: ([3, 4],)},
    "G7a": {CONFIRMED: (1.0, 2.0, 1.5), REFUTED: (2.0, 3.0, 1.0)},
    "G7b": {CONFIRMED: (3.0, 4.0, 2.0), REFUTED: (1.0, 4.0, 2.0)},
    "G12a": {CONFIRMED: (1.5, 15.0), REFUTED: (1.5, 0.9)},
    "G13": {CONFIRMED: (1.0, 10.0, 100.0, 2.0), REFUTED: (1.0, 1000.0, 1.0, 2.0)},
}


def intervals(holds: Range) -> dict[Verdict, tuple[float, float]]:
    """Return an interval for each verdict, around an end of a range."""
    end = holds.low if math.isfinite(holds.low) else holds.high
    step = 0.005 * abs(end) or 0.5
    outward = -step if end == holds.low else step
    inside = end if holds.low == holds.high else end - outward
    return {
        CONFIRMED: (inside, inside),
        REFUTED: (end + outward, end + outward),
        INCONCLUSIVE: (end - step, end + step),
    }


@EVERY_CLAIM
def test_each_rule_gives_each_verdict_that_it_can(claim):
    rule = claim.rule
    cases = CASES.get(claim.id) or {
        verdict: MAKERS[rule.estimate](low, high)
        for verdict, (low, high) in intervals(rule.holds).items()
        if verdict is not INCONCLUSIVE or rule.estimate not in POINTS
    }
    assert {CONFIRMED, REFUTED} <= set(cases)
    for verdict, values in cases.items():
        assert len(values) == len(rule.reads)
        assert decide(rule.estimate(*values), rule.holds) is verdict, values


# --- the parts of a rule
# ---------------------------------------------------------------------------------------


@given(st.tuples(numbers, numbers).map(sorted), st.tuples(numbers, numbers).map(sorted))
def test_a_verdict_is_that_of_every_number_in_the_interval_or_there_is_none(interval, ends):
    (low, high), holds = interval, Range(*ends)
    verdict = decide(Estimate(low, low, high), holds)
    inside = [
        holds.low <= number <= holds.high for number in (low, high, *ends) if low <= number <= high
    ]
    if verdict is CONFIRMED:
        assert all(inside)
    elif verdict is REFUTED:
        assert not any(inside)
    else:
        assert low < high
        assert any(inside)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (1.03, 2, CONFIRMED),
        (1.02, 1.02, CONFIRMED),
        (0.9, 1.01, REFUTED),
        (0.99, 1.03, INCONCLUSIVE),
    ],
)
def test_the_whole_interval_decides(low, high, verdict):
    assert decide(Estimate((low + high) / 2, low, high), at_least(1.02)) is verdict


def test_ranges_in_words():
    ranges = (at_least(2), at_most(0.5), near(80, 3), near(0, 0))
    assert [str(holds) for holds in ranges] == [
        "at least 2",
        "at most 0.5",
        "77 to 83",
        "exactly 0",
    ]
    with speaking("zh", catalogue.read("zh")):
        assert [verdicts.range_in_words(holds) for holds in ranges] == [
            "至少 2",
            "至多 0.5",
            "77 至 83",
            "恰为 0",
        ]


@pytest.mark.parametrize(
    "estimate",
    [Estimate(3, 1, 2), Estimate(math.nan, 1, 2), Estimate(1, 2, 0), Estimate(1, -math.inf, 2)],
)
def test_an_interval_that_does_not_hold_its_number_decides_nothing(estimate, server):
    claim = BY_ID["C3a"]
    made = replace(claim, rule=replace(claim.rule, estimate=lambda *values: estimate))
    assert judge(made, server).verdict is NOT_TESTABLE


def test_what_a_stage_skipped_is_not_testable_for_the_stages_own_reason():
    rows = [{"demo": "seconds", "arm": "x", "value": "", "remark": "skipped: needs a CUDA GPU"}]
    with pytest.raises(NotTestableError, match="stage bench_overlap skipped it: needs a CUDA GPU"):
        Evidence({}, {"bench_overlap": rows}).read(Column("bench_overlap", "value", {"arm": "x"}))


def test_columns_keep_the_order_of_the_rows_and_match_whole_cells_or_patterns():
    rows = [
        {"arm": "SGD, rate 1", "value": 2.0},
        {"arm": "SGD", "value": 9.0},
        {"arm": "SGD, rate 2", "value": 1},
    ]
    evidence = Evidence({}, {"s": rows})
    assert evidence.read(Column("s", "value", {"arm": "SGD, rate *"})) == (2.0, 1.0)
    assert evidence.read(Column("s", "value", {"arm": "SGD"})) == (9.0,)


def test_closed_forms():
    assert schedules_claims.prevented([1, 2, 3], [0, 0.8, 1], [0.1, 0.2, 0.6]) == Estimate(
        pytest.approx(100 * (1 - 0.8 / 1.8)), pytest.approx(40), pytest.approx(75)
    )
    assert optimizers_claims.quadratic_ratio(2, 0, 1, 0).value == pytest.approx(4)
    assert optimizers_claims.rank_of_the_first(*(BEST + WORST + BEST)).value == 8, (
        "those never worst come first"
    )
    assert bench_compile_claims.share_faster(
        *(FIVE_FASTER[:6] + FIVE_SLOWER[:6] + FIVE_UNSURE[:3])
    ) == Estimate(60, 40, 60)
    assert bench_compile_claims.thousand_calls(
        [10] * 10, [0] * 10, [1.0], [1.0]
    ).value == pytest.approx((100 + 990) / 990)
    assert scaling_claims.share_of_communication(10, 1000, 138, 2).value == 50, (
        "10 ms and 128 images of 1 ms"
    )
    assert bench_input_claims.idle_share(2, [1.0], *[[3.0]] * 6).value == pytest.approx(
        100 * 2 / 20
    )
    assert optimizers_claims.last_excess(0.5, [1, 0.1], [1, 0.05], [1, 0.2]) == Estimate(
        1.2, 1.1, 1.4
    )


def test_questions_that_the_settings_leave_open_are_not_answered():
    with pytest.raises(NotTestableError, match="no run fails at any rate up to 2"):
        schedules_claims.most_failures([1, 2], [0, 0])
    with pytest.raises(NotTestableError, match="two cores"):
        bench_hardware_claims.most_over_least([1, 1], [5, 6])
    with pytest.raises(NotTestableError, match="one device"):
        bench_input_claims.idle_share(1, [1.0], *[[3.0]] * 6)


# --- the most surprising
# ---------------------------------------------------------------------------------------


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


def test_the_most_surprising_are_refuted_and_of_different_stages():
    found = [
        finding("A6a", REFUTED, 0.5, at_least(1)),
        finding("A6d", REFUTED, 0.1, at_least(1)),
        finding("B3", REFUTED, 1, at_most(0.9)),
        finding("C4", INCONCLUSIVE, 0.001, at_least(1)),
        finding("C3a", CONFIRMED, 99, at_least(1)),
    ]
    assert [f.claim.id for f in most_surprising(found, 3)] == ["A6d", "B3"]
    assert [f.claim.id for f in most_surprising(found, 1)] == ["A6d"]


# --- the ledger
# ------------------------------------------------------------------------------------------------


def test_ids_are_unique_also_as_keys_of_metrics():
    keys = [claim.id.lower() for claim in ledger()]
    assert len(keys) == len(set(keys))
    assert all(re.fullmatch(r"[a-g]\d{1,2}[a-e]?", key) for key in keys)


@EVERY_CLAIM
def test_an_entry_says_everything_in_both_languages(claim):
    chinese = catalogue.read("zh")
    for text in (claim.says, claim.measured):
        assert len(text) > 10
        assert text.endswith(".")
        assert not re.search(r"[\u4e00-\u9fff]", text)
        assert re.search(r"[\u4e00-\u9fff]", chinese[text])
        assert chinese[text].endswith(("。", "）。"))
    for label in (claim.rule.unit, claim.rule.holds.template, *claim.wants):
        assert label.isascii()
        assert re.search(r"[\u4e00-\u9fff]|^KiB$", chinese[label])
    assert re.fullmatch(r"00[0-4](, 00[0-4])*", claim.note)
    assert re.fullmatch(r"1[23]\.\d{1,2}", claim.section)
    assert claim.tolerance.endswith(".")
    patterns = [
        p for read in claim.rule.reads if isinstance(read, Column) for p in read.where.values()
    ]
    assert not re.search(r"[][?]", "".join(patterns)), "`*` is the only sign that stands for others"
    assert "|" not in claim.says + claim.measured + claim.rule.unit, "cells of a Markdown table"


@EVERY_CLAIM
def test_an_entry_reads_one_stage_which_exists_and_which_dvc_runs_first(claim):
    assert {read.folder.split("/")[0] for read in claim.reads} == {claim.stage}
    assert claim.stage in STAGES
    assert f"reports/{claim.stage}" in PIPELINE["claims"]["deps"]


@pytest.mark.parametrize(
    "claim", [c for c in ledger() if not about_gpus(c)], ids=lambda claim: claim.id
)
def test_what_an_entry_reads_is_in_the_committed_reports(claim):
    evidence = claims.gather(ROOT / "reports", {read.folder for read in claim.reads})
    for read in claim.rule.reads:
        evidence.read(read)
    for need in claim.needs:
        evidence.value(need.metric)


def test_no_stage_that_is_waited_for_goes_unread():
    waited = {
        dep.removeprefix("reports/")
        for dep in PIPELINE["claims"]["deps"]
        if dep.startswith("reports/")
    }
    assert waited == {claim.stage for claim in ledger()}


# --- the stage and its page
# ------------------------------------------------------------------------------------


def run_without_torch(folder: Path) -> None:
    blocked = (
        "import sys; sys.modules['torch'] = None; from stages.claims.__main__ import main; main()"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run(
        [sys.executable, "-c", blocked], cwd=folder, env=environment, check=True, timeout=60
    )


def test_the_committed_reports_get_their_verdicts_without_torch_and_the_same_twice(tmp_path):
    shutil.copytree(
        ROOT / "reports",
        tmp_path / "reports",
        ignore=shutil.ignore_patterns("claims", "figures", "*.html"),
    )
    folder = tmp_path / "reports" / "claims"
    run_without_torch(tmp_path)
    first = [(folder / name).read_bytes() for name in ("rows.csv", "metrics.json")]
    run_without_torch(tmp_path)
    assert first == [(folder / name).read_bytes() for name in ("rows.csv", "metrics.json")]
    rows, metrics = (
        read_rows(folder / "rows.csv"),
        json.loads((folder / "metrics.json").read_text()),
    )
    assert len(rows) == metrics["total"] == len(ledger()) >= 35
    assert sum(metrics[v.value.replace(" ", "_")] for v in Verdict) == metrics["total"]
    for row in rows:
        assert metrics[f"claim_{str(row['id']).lower()}"] == row["verdict"]
        assert (row["effect"] == "") == (row["verdict"] == NOT_TESTABLE)
    expected = {
        "claim_a4": CONFIRMED,
        "claim_d6a": CONFIRMED,
        "claim_d6b": REFUTED,
        "claim_d12c": REFUTED,
    }
    assert {name: metrics[name] for name in expected} == expected, (
        "on any machine: these do not depend on times"
    )


HOSTILE: dict[str, tuple[bytes, bytes]] = {
    "empty": (b"", b""),
    "other types": (b"[1, 2]", b"a,b\n1\n1,2,3,4\n"),
    "not text": (b"\xff\xfe\x00", b"\xff\xfe\x00\n\xff"),
    "too deep": (b"[" * 100_000, b'demo,arm\n"' + b"x" * 200_000),
    "not a number": (
        b'{"device_kind": NaN, "num_devices": 1e999}',
        b"demo,arm,x,value\ncall,eager,1,nan\n",
    ),
    "foreign": (
        json.dumps({"device_kind": {"a": 1}, "speedup": "fast"}).encode(),
        b"demo,series,x,y\n,,,\n",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_files_of_any_kind_give_verdicts_and_no_error(name, project):
    for folder in FOLDERS:
        path = project / "reports" / folder
        path.mkdir(parents=True)
        (path / "metrics.json").write_bytes(HOSTILE[name][0])
        (path / "rows.csv").write_bytes(HOSTILE[name][1])
    assert run(claims.main) == 0
    assert {row["verdict"] for row in read_rows(Path("reports/claims/rows.csv"))} == {NOT_TESTABLE}


def test_no_reports_at_all_and_folders_in_their_place_give_verdicts_too(project):
    assert run(claims.main) == 0
    assert json.loads(Path("reports/claims/metrics.json").read_text())["not_testable_here"] == len(
        ledger()
    )
    for folder in FOLDERS:
        (project / "reports" / folder / "metrics.json").mkdir(parents=True)
        (project / "reports" / folder / "rows.csv").mkdir()
    assert run(claims.main) == 0


def through_a_file(
    rows: Sequence[Mapping[str, object]], path: Path
) -> list[dict[str, float | str]]:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return read_rows(path)


def test_rows_hold_the_findings(server, tmp_path):
    findings = claims.measure(server)
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


def test_the_page_has_a_row_for_each_claim_with_symbol_word_and_stage(server, tmp_path):
    findings = [
        judge(claim, Evidence({}, {}) if claim.section == "13.1" else server) for claim in ledger()
    ]
    write_rows(tmp_path, rows_of(findings))
    section = report_claims.section(tmp_path)
    [table] = section.tables
    assert len(table.rows) == len(ledger())
    for row, found in zip(table.rows, findings, strict=True):
        assert row[3] == f"{verdicts.SYMBOLS[found.verdict]} {found.verdict.value}"
        assert row[-1] == Link(found.claim.stage)
        assert str(row[4]).endswith(found.claim.measured)
        assert str(row[4]).startswith(f"reason: {found.reason}") == (found.verdict is NOT_TESTABLE)
    cells = {str(row[0]): str(row[4]) for row in table.rows}
    assert cells["D12d"].startswith("1.5 (1.4 to 1.6) x as fast, on CUDA GPUs. Time of a step")
    assert cells["D11"].startswith("84 % accuracy, on CUDA GPUs. Test accuracy")
    assert len(set(verdicts.SYMBOLS.values())) == len(Verdict)
    assert str(sum(f.verdict is REFUTED for f in findings)) in section.findings[0]
    surprises = most_surprising(findings, report_claims.NUM_SURPRISES)
    assert surprises
    for sentence, found in zip(section.findings[1:], surprises, strict=False):
        assert found.claim.says in sentence
    assert "for want of" in section.findings[-1]
    english = re.compile(
        r"\b(confirmed|refuted|inconclusive|testable|at least|at most|exactly|want|holds?|as)\b"
    )
    with speaking("zh", catalogue.read("zh")):
        section = report_claims.section(tmp_path)
    [table] = section.tables
    decided = [row for row, found in zip(table.rows, findings, strict=True) if found.estimate]
    for text in (
        *section.findings,
        *table.header,
        table.note,
        *[str(cell) for row in decided for cell in row[:-1]],
    ):
        assert not english.search(text), text
    cells = {str(row[0]): str(row[4]) for row in table.rows}
    assert cells["D12d"].startswith("1.5（1.4 至 1.6）倍速度，测量于 CUDA GPU。")


def test_what_is_stored_is_english_whatever_is_spoken(server):
    stored = rows_of(claims.measure(server))
    with speaking("zh", catalogue.read("zh")):
        assert rows_of(claims.measure(server)) == stored


def test_a_page_of_nothing_but_confirmed_claims_names_no_surprise_and_no_want(server, tmp_path):
    confirmed = [f for f in claims.measure(server) if f.verdict is CONFIRMED]
    write_rows(tmp_path, rows_of(confirmed))
    assert len(report_claims.section(tmp_path).findings) == 1
