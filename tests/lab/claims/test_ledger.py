"""The ledger's entries: what they say, what they read, and that their cases are tested."""

import math
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from lab.claims.evidence import Column, Evidence, NotTestableError
from lab.claims.ledger import ledger, unmeasured
from lab.claims.notes import BOOK, places_of
from lab.claims.verdicts import Kind
from stages.claims.__main__ import gather
from stages.report import catalogue
from tests.helpers import ROOT
from tests.pipeline.test_architecture import PIPELINE, STAGES

CHINESE = re.compile(r"[\u4e00-\u9fff]")


def test_ids_are_unique_whatever_their_case():
    keys = [claim.id.lower() for claim in ledger()]
    assert len(keys) == len(set(keys))
    assert [key for key in keys if not re.fullmatch(r"[a-g]\d{1,2}[a-z]?", key)] == []


def test_what_the_notes_assert_is_judged_or_has_a_reason_why_not():
    kinds = Counter(claim.kind for claim in ledger())
    assert kinds[Kind.SAID] + kinds[Kind.PRINTED] >= 110
    assert kinds[Kind.ASKED] < kinds[Kind.SAID]
    for each in unmeasured():
        assert any(place.source != BOOK for place in places_of(each.places)), each.says
        assert each.reason.endswith("."), each.says


def test_an_entry_is_credited_to_places_that_exist():
    for claim in ledger():
        places = list(places_of(claim.places))
        if claim.kind is not Kind.PRINTED:
            assert BOOK not in {place.source for place in places}, claim.id
        assert claim.section, claim.id


def test_every_rule_can_give_more_than_one_verdict():
    """Each range leaves something out, and none is all numbers that the unit allows."""
    for claim in ledger():
        holds = claim.rule.holds
        assert math.isfinite(holds.low) or math.isfinite(holds.high), claim.id
        if claim.rule.unit.startswith("%"):
            assert (holds.low, holds.high) != (0, 100), claim.id


def test_an_entry_says_everything_in_both_languages():
    chinese = catalogue.read("zh")
    for claim in ledger():
        for text in (claim.says, claim.measured):
            assert len(text) > 10, claim.id
            assert text.endswith("."), text
            assert not CHINESE.search(text), text
            assert CHINESE.search(chinese[text]), text
            assert chinese[text].endswith(("。", "）。")), text
        for label in (claim.rule.unit, claim.rule.holds.template, *claim.wants):
            assert label.isascii(), label
            assert CHINESE.search(chinese[label]) or label == "KiB", label
        assert re.fullmatch(r"1[23]\.\d{1,2}", claim.section), claim.id
        assert claim.tolerance.endswith("."), claim.id
        cells = claim.says + claim.measured + claim.rule.unit
        assert "|" not in cells, f"{claim.id}: cells of a Markdown table"
    for each in unmeasured():
        for text in (each.says, each.reason):
            assert text.endswith("."), text
            assert CHINESE.search(chinese[text]), text


def test_a_star_is_the_only_sign_that_stands_for_others():
    for claim in ledger():
        for read in claim.rule.reads:
            if isinstance(read, Column):
                assert not re.search(r"[][?]", "".join(read.where.values())), claim.id


def test_an_entry_reads_one_stage_which_exists_and_which_dvc_runs_first():
    for claim in ledger():
        assert {read.folder.split("/")[0] for read in claim.reads} == {claim.stage}, claim.id
        assert claim.stage in STAGES, claim.id
        assert f"reports/{claim.stage}" in PIPELINE["claims"]["deps"], claim.id


def test_no_stage_that_is_waited_for_goes_unread():
    deps = PIPELINE["claims"]["deps"]
    waited = {dep.removeprefix("reports/") for dep in deps if dep.startswith("reports/")}
    assert waited == {claim.stage for claim in ledger()}


@pytest.fixture(scope="module")
def committed() -> Evidence:
    return gather(ROOT / "reports", {read.folder for claim in ledger() for read in claim.reads})


@contextmanager
def only_skipped() -> Iterator[None]:
    """Let pass that a stage skipped something and said why; nothing else that is missing."""
    try:
        yield
    except NotTestableError as reason:
        if "skipped it: " not in str(reason):
            raise


def test_what_an_entry_reads_is_in_the_committed_reports(committed):
    """Unless the committed run, on a machine without a GPU, says why it left that out."""
    for claim in ledger():
        for need in claim.needs:
            committed.value(need.metric)
        if all(committed.value(need.metric) in need.accepted for need in claim.needs):
            with only_skipped():
                for read in claim.rule.reads:
                    committed.read(read)


def test_every_stage_with_claims_has_tests_of_its_rules():
    stages = {claim.stage for claim in ledger()}
    tested = {path.parent.name for path in (ROOT / "tests" / "stages").glob("*/test_claims.py")}
    assert stages <= tested
