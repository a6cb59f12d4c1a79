"""Frozen rules: what counts as a change of one, and that a change needs a new day."""

import ast
from datetime import date, timedelta

import pytest

from lab.claims.frozen import definition, digest, freeze, frozen
from lab.claims.ledger import ledger
from lab.core.errors import ParamsError
from tests.helpers import claim_of

MODULE = """
LIMIT = 3

def findings(results):
    \"\"\"All of them.\"\"\"
    one, two = (results.samples("times", name) for name in ("one", "two"))
    return {
        "speedup": ratio(one, two),
        **{f"{net}_rate": rate(net) for net in NETS},
        "count": LIMIT,
    }

def rate(net):
    return shared(net)

def shared(net):
    return net
"""


def defined(text: str, name: str) -> str:
    return definition(ast.parse(text), name)


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("ratio(one, two)", "ratio(two, one)", {"speedup"}),
        ('"one", "two"', '"one", "three"', {"speedup"}),
        ("LIMIT = 3", "LIMIT = 4", {"count"}),
        ("    return net\n", "    return 2 * net\n", {"lenet_rate"}),
        ("All of them.", "Every one.", set()),
        ("LIMIT = 3", "LIMIT = (  # of all\n    3\n)", set()),
    ],
)
def test_a_definition_is_an_entry_and_what_it_names(old, new, changed):
    assert old in MODULE
    other = MODULE.replace(old, new)
    names = ("speedup", "lenet_rate", "count")
    assert {name for name in names if defined(MODULE, name) != defined(other, name)} == changed


def test_the_rules_are_those_that_were_frozen():
    """Else `invoke freeze`, which asks for a new day of each rule that changed."""
    assert freeze(ledger(), frozen(), date.today()) == frozen()


def test_a_changed_rule_needs_a_new_day():
    claim = claim_of("F7a")
    day, next_day = claim.since, claim.since + timedelta(days=1)
    before = freeze([claim], {}, day)
    other = claim.model_copy(update={"at_least": 8.0})
    assert digest(other) != digest(claim)
    with pytest.raises(ParamsError, match=r"optimizers.*F7a.*set its `since` to") as error:
        freeze([other], before, next_day)
    assert str(next_day) in str(error.value)
    dated = other.model_copy(update={"since": next_day})
    assert freeze([dated], before, next_day) == {"F7a": [str(next_day), digest(other)]}
    assert freeze([other], before, day) == {"F7a": [str(day), digest(other)]}, "the same day"
    with pytest.raises(ParamsError, match="still to come"):
        freeze([dated], before, day)


def test_no_rule_is_dated_back():
    """Results of the days before would pass as a test of a rule that was fixed before them."""
    claim = claim_of("F7a")
    today, before = claim.since + timedelta(days=9), freeze([claim], {}, claim.since)
    assert freeze([claim], before, today) == before
    days_ago = {"since": claim.since + timedelta(days=2)}
    other = claim.model_copy(update={"at_least": 8.0, **days_ago})
    for rule, known in ((other, before), (claim.model_copy(update=days_ago), before), (claim, {})):
        with pytest.raises(ParamsError, match=f"set its `since` to {today}"):
            freeze([rule], known, today)
