"""Requirements that every entry of the ledger must meet."""

import math
import re

import pytest

from lab.claims.claim import Kind, Text, read_claims
from lab.claims.ledger import ledger
from lab.claims.notes import BOOK, Place, places_of
from lab.core.errors import ParamsError
from tests.helpers import ROOT


def test_ids_are_unique_ignoring_case():
    keys = [claim.id.lower() for claim in ledger()]
    assert len(keys) == len(set(keys))
    for claim in ledger():
        letters = "A-Z" if claim.kind is Kind.OURS else "A-G"
        assert re.fullmatch(rf"[{letters}]\d{{1,2}}[a-z]?", claim.id), claim.id


ENTRY = """\
claims:
- id: X1
  section: "13.1"
  kind: ours
  says: {en: New is faster than old., zh: 新的比旧的快。}
  measured: {en: Old relative to new., zh: 旧的与新的之比。}
  finding: speedup
  at_least: 1.02
  tolerance: {en: By over 2 %., zh: 快 2% 以上。}
  since: 2026-11-26
"""


def test_two_claims_with_one_id_are_refused(tmp_path, monkeypatch):
    for stage, text in (("bench_async", ENTRY), ("bench_compile", ENTRY.replace("X1", "x1"))):
        (tmp_path / stage / "page").mkdir(parents=True)
        (tmp_path / stage / "page" / "claims.yaml").write_text(text)
    monkeypatch.setattr("lab.claims.ledger.STAGES", tmp_path)
    with pytest.raises(ParamsError, match=r"a claim of bench_\w+ has the id [Xx]1 as well"):
        ledger.__wrapped__()


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("  at_least: 1.02\n", "", "claim X1: .*expected at_least"),
        ("at_least: 1.02", "at_least: 2\n  at_most: 1", "claim X1: .*at_least is over at_most"),
        ("at_least: 1.02", "exactly: 2\n  at_most: 1", "claim X1: .*only exactly"),
        ("en: By over 2 %., ", "", "claim X1: tolerance.en: missing key"),
        ("at_least", "at_last", "claim X1: at_last: unknown key; .*at_least"),
        ("kind: ours", "kind: mine", "claim X1: kind: expected 'said', 'printed' or 'ours'"),
        ("since: 2026-11-26", "since: 2026-13-26", "month must be in 1..12"),
        ("  since", "  needs: [money]\n  since", "claim X1: no need 'money'; .*real_images"),
        ("claims:", "claim:", "unknown key"),
    ],
)
def test_a_mistake_is_reported_with_its_file_and_claim(tmp_path, old, new, complaint):
    assert old in ENTRY
    file = tmp_path / "claims.yaml"
    file.write_text(ENTRY.replace(old, new))
    with pytest.raises(ParamsError, match=f"claims.yaml.*{complaint}") as error:
        read_claims(file, "s")
    assert "\n" not in str(error.value)


def test_no_question_of_our_own_is_credited_to_the_book():
    for claim in ledger():
        own = claim.kind is Kind.OURS and not claim.at
        sources = set() if own else {place.source for place in places_of(claim.at)}
        assert BOOK not in sources or claim.kind is not Kind.OURS, claim.id
        assert re.fullmatch(r"\d{1,2}\.\d{1,2}", claim.section), claim.id


TRANSLATED = {  # the lab's own questions; a contributor's may lack Chinese
    *("together", "landscapes", "optimizers", "schedules", "bench_compile", "bench_async"),
    *("bench_parallel", "bench_overlap", "bench_hardware", "bench_input", "replicas"),
    *("parallelism", "convergence", "bench_training", "scaling", "train"),
}


def test_the_labs_own_questions_are_translated_into_chinese():
    pages = {path.parent for path in (ROOT / "stages").glob("*/page/zh.md")}
    assert {page.parent.name for page in pages} >= TRANSLATED
    for page in (page for page in pages if (page / "claims.yaml").is_file()):
        claims, unmeasured = read_claims(page / "claims.yaml", page.parent.name)
        for entry in (*claims, *unmeasured):
            texts = [text for _, text in entry if isinstance(text, Text)]
            texts += [case.when for case in getattr(entry, "cases", ())]
            assert all(text.zh for text in texts), entry


def test_no_range_allows_every_value():
    for claim in ledger():
        holds = claim.holds
        assert math.isfinite(holds.low) or math.isfinite(holds.high), claim.id
        assert (holds.low, holds.high) != (0, 100), claim.id


def test_places_in_notes_and_book_are_parsed():
    lines, one, book = places_of("001:62-70 000:427 book:13.5")
    assert lines == Place("001", 62, 70)
    assert (one.first, one.last) == (427, 427)
    assert book == Place(BOOK, section="13.5")


@pytest.mark.parametrize(
    "text", ["", "005:1", "000:0", "000:561", "000:20-10", "000", "000:x", "book:11.2", "note 3"]
)
def test_a_place_that_does_not_exist_is_refused(text):
    with pytest.raises(ValueError, match=r"place such as|has lines 1 to"):
        list(places_of(text))
