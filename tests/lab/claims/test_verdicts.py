"""Judging claims: some made up here, and the whole ledger."""

import functools
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pytest

from lab.claims.agreement import agreement_of
from lab.claims.claim import Case, Claim, Kind, Need, Text
from lab.claims.ledger import ledger
from lab.claims.rules import SINCE, Verdict
from lab.claims.verdicts import NO_REASON, Judgement, false_verdicts, judge, rows_of
from lab.results.diff import Taken
from lab.results.findings import Samples, exact, median, ratio
from lab.results.measurements import Results
from lab.results.reasons import Reason
from tests import made_up
from tests.helpers import claim_of

CONFIRMED, REFUTED, DEPENDS, INCONCLUSIVE, NOT_TESTABLE = Verdict


def but(claim: Claim, **changes: object) -> Claim:
    return claim.model_copy(update=changes)


TEXT = Text(en="New is faster than old.", zh="")
TIMED = Claim(
    stage="bench_async",
    id="X1",
    section="13.1",
    kind=Kind.SAID,
    at="000:1",
    says=TEXT,
    measured=TEXT,
    finding="speedup",
    at_least=1.02,
    tolerance=TEXT,
    since=date(2026, 11, 26),
)
COUNTED = but(TIMED, id="X2", finding="calls", at_least=2)
GPU = Need(name="gpu", label=TEXT, remedy=TEXT, conditions={"device_kind": ("cuda",)})
GPU_ONLY = but(TIMED, id="X3", needs=(GPU,))
LEDGER = [TIMED, COUNTED, GPU_ONLY]


def evidence(old: Sequence[float] = (3.0,) * 8, **conditions: object) -> Taken:
    """Return a GPU's results: times of eight processes (2 for new), and three calls."""
    times = Samples(tuple(old)), Samples((2.0,) * len(old))
    findings = {"speedup": ratio(*times), "calls": exact(3, "calls")}
    return Taken(findings, {"device_kind": "cuda", **conditions})


def test_verdicts_follow_what_was_measured():
    assert [judge(claim, evidence()).verdict for claim in LEDGER] == [CONFIRMED] * 3
    assert judge(TIMED, evidence([1.0] * 8)).verdict is REFUTED
    assert judge(TIMED, evidence([1.0, 3.0] * 4)).verdict is INCONCLUSIVE
    one_start = judge(TIMED, evidence([3.0]))
    assert one_start.verdict is INCONCLUSIVE
    assert one_start.reason == Reason("too_few", "1")


@pytest.mark.parametrize("value", [math.nan, math.inf, 0.0, -1.0])
def test_damaged_times_are_not_testable(value):
    found = judge(TIMED, evidence([value] * 8))
    assert (found.verdict, found.finding) == (NOT_TESTABLE, None)
    assert found.reason.code == "unusable"


def test_missing_evidence_is_not_testable():
    for claim in LEDGER:
        found = judge(claim, Taken({}))
        assert found.verdict is NOT_TESTABLE
        assert found.reason.code == "not_measured"


def test_one_counterexample_does_not_refute_a_claim_about_some_cases():
    slower, may_be = evidence([1.0] * 8), but(TIMED, quantifier="some")
    found = judge(may_be, slower)
    assert (found.verdict, found.reason) == (INCONCLUSIVE, Reason("not_seen"))
    assert judge(may_be, evidence()).verdict is CONFIRMED


def test_a_claim_about_every_case_shows_the_case_that_refutes_it():
    cases = tuple(Case(finding=name, when=TEXT) for name in ("calls", "speedup"))
    found = judge(but(COUNTED, finding="", cases=cases, quantifier="every"), evidence())
    assert (found.verdict, found.finding.value) == (REFUTED, 1.5)
    assert [each.verdict for each in found.cases] == [CONFIRMED, REFUTED]


def test_an_unmet_need_takes_precedence_over_a_busy_machine():
    found = judge(GPU_ONLY, evidence(device_kind="cpu-virtual", busy_percent=93))
    assert found.verdict is NOT_TESTABLE
    assert found.unmet == GPU


@pytest.mark.parametrize(
    ("metrics", "reason"),
    [({"busy_percent": 93.2}, "busy: 93.2 % > 20 %"), ({"disturbed": "slept: 9 s"}, "slept: 9 s")],
)
def test_times_of_a_disturbed_machine_decide_nothing(metrics, reason):
    found = judge(TIMED, evidence(**metrics))
    assert (found.verdict, found.finding) == (INCONCLUSIVE, None)
    assert found.reason == Reason("disturbed", reason)
    assert judge(COUNTED, evidence(**metrics)) == judge(COUNTED, evidence()), "counts stand"


def test_times_that_need_two_cores_are_not_testable():
    lacking = evidence(not_measurable="needs_cores: 2", busy_percent=93)
    found = judge(TIMED, lacking)
    assert (found.verdict, found.finding) == (NOT_TESTABLE, None)
    assert found.reason == Reason("skipped", "needs_cores: 2")
    assert judge(COUNTED, lacking).verdict is CONFIRMED


def test_a_claim_about_gpus_judged_on_a_cpu_is_our_own_question():
    about_gpus = but(TIMED, about_gpus=True)
    for claim, device_kind, kind in (
        (TIMED, "cpu-virtual", Kind.SAID),
        (about_gpus, "cpu-virtual", Kind.OURS),
        (about_gpus, "cuda", Kind.SAID),
        (about_gpus, "cuda-shared", Kind.SAID),
    ):
        found = judge(claim, evidence(device_kind=device_kind))
        assert (found.kind, found.verdict) == (kind, CONFIRMED)
        assert [row["kind"] for row in rows_of([found])] == [kind.value]


@pytest.mark.parametrize("days", [-5, 0, 5])
def test_only_times_measured_after_a_rule_was_fixed_test_it(days):
    """After both the claim's date and the standard's."""
    claims = [but(claim, since=SINCE + timedelta(days)) for claim in (TIMED, COUNTED)]
    last = SINCE + timedelta(max(days, 0))
    for day, fixed in ((last, False), (last + timedelta(1), True)):
        timed, counted = (judge(each, evidence(measured_on=day.isoformat())) for each in claims)
        assert timed.rule_was_fixed == counted.rule_was_fixed == timed.tests_its_rule == fixed
        assert not counted.tests_its_rule, "a count comes out as it was known to"


# --- every entry of the ledger, with nothing missing ---


def test_rows_have_six_digits_and_empty_cells_for_missing_numbers():
    judged = [judge(claim, evidence([2.1234567, *[3.0] * 7])) for claim in (TIMED, COUNTED)]
    timed, counted, missing = rows_of([*judged, judge(TIMED, Taken({}))])
    assert (timed["effect"], timed["low"], timed["samples"], timed["over"]) == (
        1.5,
        1.06173,
        8,
        "starts",
    )
    assert timed["level"] == pytest.approx(1 - 2 / 256, rel=1e-5)
    assert (counted["effect"], counted["level"]) == (3, "")
    assert (missing["effect"], missing["verdict"]) == ("", NOT_TESTABLE)


def test_each_case_has_a_row_with_its_own_number():
    cases = tuple(Case(finding=name, when=TEXT) for name in ("speedup", "calls"))
    rows = rows_of([judge(but(TIMED, finding="", cases=cases), evidence())])
    assert [(row["case"], row["effect"]) for row in rows[1:]] == [("speedup", 1.5), ("calls", 3)]


@pytest.fixture(scope="session")
def server() -> dict[str, Taken]:
    """Results on which every claim can be tested."""
    return made_up.server()


def test_every_claim_is_testable_if_nothing_is_missing(server):
    for claim in ledger():
        found = judge(claim, server[claim.stage])
        assert found.verdict is not NOT_TESTABLE, f"{claim.id}: {found.reason}"
        assert found.finding.consistent(), f"{claim.id}: {found.finding}"


def test_cpu_results_of_a_gpu_machine_are_attributed_to_the_cpu(server):
    stage = "bench_hardware"
    kinds = {c.id: judge(c, server[stage]).device_kind for c in ledger() if c.stage == stage}
    of_processor = {"F6a", "G1a", "G1b", "G1c", "G2a", "G2b", "G2d", "G3b", "G3c"}
    assert {claim for claim, kind in kinds.items() if kind == "cpu"} == of_processor
    assert set(kinds.values()) == {"cpu", "cuda"}


TWO_GPUS = ("two_gpus", "pair_of_gpus")


def not_testable(server: dict[str, Taken], **changes: object) -> set[str]:
    """Return the claims that become untestable if these conditions change."""
    changed = {
        stage: replace(taken, conditions=_with(taken.conditions, changes))
        for stage, taken in server.items()
    }
    judged = {claim.id: judge(claim, changed[claim.stage]).verdict for claim in ledger()}
    return {name for name, verdict in judged.items() if verdict is NOT_TESTABLE}


def _with(conditions, changes):
    return {**conditions, **{k: v for k, v in changes.items() if k in conditions}}


def wanting(*needs: str) -> set[str]:
    return {claim.id for claim in ledger() if {need.name for need in claim.needs} & set(needs)}


def test_virtual_devices_decide_no_claim_about_gpus(server):
    virtual = not_testable(server, device_kind="cpu-virtual", two_devices="cpu-virtual")
    assert virtual == wanting("gpu", *TWO_GPUS)
    shared = not_testable(server, device_kind="cuda-shared", two_devices="cuda-shared")
    assert shared == wanting(*TWO_GPUS, "own_devices")


def test_synthetic_data_decide_no_claim_about_accuracy(server):
    images = not_testable(server, dataset="synthetic")
    assert images | not_testable(server, airfoil="synthetic") == wanting(
        "real_images", "real_airfoil"
    )


OF_TIMES = re.compile(r"(ms|us|ns|s|%|fraction|GB/s|GFLOP/s|billion sums/s)")  # units of times
TIMED_CURVES = re.compile(r"step_time|.*_(ms|us|us_per_image)")  # rows without a unit


@functools.cache
def with_other_times(stage: str) -> Taken:
    """Return a stage's results with every time changed at random."""
    found, generator = made_up.results(stage), np.random.default_rng(0)
    others = [
        replace(m, values=tuple(v * float(generator.uniform(1, 2)) for v in m.values))
        if OF_TIMES.fullmatch(m.unit) or (not m.unit and TIMED_CURVES.fullmatch(m.experiment))
        else m
        for m in found.measurements
    ]
    return made_up.taken(stage, Results(others, found.conditions))


def test_claims_that_read_times_are_timed(server):
    """Otherwise a busy machine would decide them."""
    for claim in ledger():
        before, after = server[claim.stage], with_other_times(claim.stage)
        others = [n for n in claim.deciding if before.findings[n] != after.findings[n]]
        assert judge(claim, before).finding.timed == bool(others), claim.id


EIGHT = [1.0] * 8


def finding(claim_id: str, verdict: Verdict, *samples: float) -> Judgement:
    estimate = median(Samples(samples)) if samples else None
    return Judgement(claim_of(claim_id), verdict, estimate, "cpu", NO_REASON, "times as fast")


def test_expected_false_verdicts_add_up_the_error_of_each_interval_that_may_decide():
    """The interval of eight samples misses with probability 2 / 2 ** 8, that of four with 1%."""
    judged = [finding("A4", CONFIRMED, *EIGHT[:n]) for n in (8, 4, 3, 0)]
    of_cases = replace(judged[0], cases=(judged[0], judged[1]))
    assert false_verdicts(judged) == pytest.approx(2 / 256 + 0.01)
    assert false_verdicts([of_cases]) == pytest.approx(2 / 256 + 0.01)
    assert false_verdicts([replace(judged[0], finding=exact(3))]) == 0


def test_only_claims_that_both_runs_decide_form_a_pair():
    runs = [
        [finding("A6a", CONFIRMED, *EIGHT), finding("A4", INCONCLUSIVE, 1, 2, 3)],
        [finding("A6a", REFUTED, *EIGHT), finding("A4", CONFIRMED, *EIGHT)],
        [finding("A6a", NOT_TESTABLE)],
    ]
    found = agreement_of(runs)
    [pair] = found.pairs
    assert pair.one.claim.id == "A6a"
    assert pair.agrees
    assert found.contradicted == ["A6a"]


def test_runs_may_be_apart_without_contradicting_each_other():
    one, other = (finding("A4", CONFIRMED, *[times] * 8) for times in (2.0, 3.0))
    found = agreement_of([[one], [other]])
    assert (dict(found.apart), found.contradicted) == ({"A4": 1}, [])
    assert not agreement_of([[one], [replace(other, unit="s")]]).pairs, "units cannot be compared"
