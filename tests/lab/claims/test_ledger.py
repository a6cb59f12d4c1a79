"""What every entry of the ledger must have."""

import math
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from lab.claims.ledger import ledger
from lab.claims.notes import BOOK, places_of
from lab.claims.verdicts import Kind
from lab.core.errors import ParamsError
from lab.core.params import read_yaml
from tests.helpers import ROOT


def test_ids_are_unique_whatever_their_case():
    keys = [claim.id.lower() for claim in ledger()]
    assert len(keys) == len(set(keys))
    for claim in ledger():
        letters = "A-Z" if claim.kind is Kind.ASKED else "A-G"
        assert re.fullmatch(rf"[{letters}]\d{{1,2}}[a-z]?", claim.id), claim.id


def test_two_claims_with_one_id_are_refused(monkeypatch):
    first = ledger()[0]
    modules = [
        SimpleNamespace(__name__="stages.again.page.claims", CLAIMS=[each])
        for each in (first, replace(first, id=first.id.swapcase()))
    ]
    monkeypatch.setattr("lab.claims.ledger._modules", lambda: modules)
    with pytest.raises(ParamsError, match=first.id):
        ledger.__wrapped__()


def test_only_what_is_printed_is_credited_to_the_book():
    for claim in ledger():
        own = claim.kind is Kind.ASKED and not claim.places
        sources = set() if own else {place.source for place in places_of(claim.places)}
        assert BOOK not in sources or claim.kind is Kind.PRINTED, claim.id
        assert re.fullmatch(r"\d{1,2}\.\d{1,2}", claim.section), claim.id


def test_ranges_leave_something_out():
    for claim in ledger():
        holds = claim.rule.holds
        assert math.isfinite(holds.low) or math.isfinite(holds.high), claim.id
        assert (holds.low, holds.high) != (0, 100), claim.id


def test_dvc_runs_a_claims_stage_first():
    first = read_yaml(ROOT / "dvc.yaml")["stages"]["claims"]["deps"]
    for claim in ledger():
        assert f"reports/{claim.stage}" in first, claim.id
