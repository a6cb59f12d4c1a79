"""Frozen rules: what counts as a change, and that each change needs a new date."""

from datetime import date, timedelta

import pytest

from lab.claims import rules
from lab.claims.claim import Case, Claim, Kind, Need, Text
from lab.claims.frozen import digest, freeze, frozen
from lab.claims.ledger import ledger
from lab.core.errors import ParamsError
from lab.results import stats
from tests.helpers import claim_of

F7A = claim_of("F7a")
OTHER = Text(en="Another.", zh="另一句。")
CHANGES = {  # of an entry, all of which must be detected
    "its id": {"id": "F7x"},
    "the stage": {"stage": "schedules"},
    "the book's section": {"section": "12.7"},
    "who says it": {"kind": Kind.OURS},
    "where": {"at": "000:1"},
    "the English sentence": {"says": Text(en="Other.", zh=F7A.says.zh)},
    "the Chinese sentence": {"says": Text(en=F7A.says.en, zh="不同。")},
    "what is measured": {"measured": OTHER},
    "the finding": {"finding": "another"},
    "its cases": {"cases": (Case(finding="one", when=OTHER), Case(finding="two", when=OTHER))},
    "the range": {"at_least": 8.0},
    "why that range": {"tolerance": OTHER},
    "its needs": {"needs": (Need(name="gpu", label=OTHER, remedy=OTHER, conditions={}),)},
    "whether one case decides": {"quantifier": "every"},
    "whether it is about GPUs": {"about_gpus": True},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_of_any_part_of_an_entry_is_detected(change):
    assert digest(F7A.model_copy(update=change)) != digest(F7A)


def test_the_changes_cover_every_part_of_an_entry():
    changed = {key for change in CHANGES.values() for key in change}
    assert changed | {"since", "at_most", "exactly"} == Claim.model_fields.keys()


@pytest.mark.parametrize(
    ("module", "name", "value"),
    [
        (stats, "SMALLEST_EFFECT", 0.2),
        (stats, "CONFIDENCE", 0.5),
        (stats, "FEWEST", 2),
        (rules, "__doc__", "“usually”: always."),
    ],
)
def test_a_change_of_the_standard_needs_a_new_date(monkeypatch, module, name, value):
    before, today = freeze([], {}, rules.SINCE), rules.SINCE + timedelta(days=1)
    monkeypatch.setattr(module, name, value)
    with pytest.raises(ParamsError, match=f"rules.py: it or its day changed.*{today}"):
        freeze([], before, today)
    monkeypatch.setattr(rules, "SINCE", today)
    assert freeze([], before, today)["standard"][0] == str(today)


def test_no_rule_has_changed_since_it_was_frozen():
    """If one has, run `invoke freeze`, which asks for a new date for each changed rule."""
    assert freeze(ledger(), frozen(), date.today()) == frozen()


def test_a_changed_rule_needs_a_new_date():
    claim = claim_of("F7a")
    day, next_day = claim.since, claim.since + timedelta(days=1)
    before = freeze([claim], {}, day)
    other = claim.model_copy(update={"at_least": 8.0})
    assert digest(other) != digest(claim)
    with pytest.raises(ParamsError, match=r"optimizers.*F7a.*set its `since` to") as error:
        freeze([other], before, next_day)
    assert str(next_day) in str(error.value)
    dated = other.model_copy(update={"since": next_day})
    assert freeze([dated], before, next_day)["F7a"] == [str(next_day), digest(other)]
    assert freeze([other], before, day)["F7a"] == [str(day), digest(other)], "the same day"
    with pytest.raises(ParamsError, match=f"set its `since` to {day}"):  # in the future
        freeze([dated], before, day)


def test_no_rule_can_be_backdated():
    """Otherwise results measured before the rule was written would count as a test of it."""
    claim = claim_of("F7a")
    today, before = claim.since + timedelta(days=9), freeze([claim], {}, claim.since)
    assert freeze([claim], before, today) == before
    days_ago = {"since": claim.since + timedelta(days=2)}
    other = claim.model_copy(update={"at_least": 8.0, **days_ago})
    for rule, known in ((other, before), (claim.model_copy(update=days_ago), before), (claim, {})):
        with pytest.raises(ParamsError, match=f"set its `since` to {today}"):
            freeze([rule], known, today)
