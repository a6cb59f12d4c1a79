"""The ledger's entries: what they say, what they read, and that their cases are tested."""

import math
import re
from collections import Counter

from lab.claims.ledger import ledger, unmeasured
from lab.claims.notes import BOOK, places_of
from lab.claims.verdicts import Kind
from stages.report import catalogue
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


def test_an_entry_reads_one_stage_which_exists_and_which_dvc_runs_first():
    for claim in ledger():
        assert {read.folder.split("/")[0] for read in claim.reads} == {claim.stage}, claim.id
        assert claim.stage in STAGES, claim.id
        assert f"reports/{claim.stage}" in PIPELINE["claims"]["deps"], claim.id
