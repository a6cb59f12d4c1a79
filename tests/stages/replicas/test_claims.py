"""The rules of the claims about replicas, and their verdicts on made-up results."""

from lab.results.curves import rows_of
from stages.replicas.__main__ import summarise
from stages.replicas.claims import CLAIMS
from stages.replicas.names import ALIASING, IN_PLACE, REBINDING
from tests.claim_cases import CONFIRMED, REFUTED, check_rules
from tests.helpers import verdicts
from tests.stages.replicas.made_up import ENDS, replicas_curves


def of(curves):
    return verdicts(CLAIMS, "replicas", summarise(curves), rows_of(curves))


def test_each_rule_gives_each_verdict_that_it_can():
    check_rules("replicas", {})


def test_replicas_that_are_one_network_where_the_book_has_them_so():
    assert of(replicas_curves()) == {
        "D2b": CONFIRMED,
        "D5": REFUTED,
        "D6a": CONFIRMED,
        "D6b": REFUTED,
        "D12b": CONFIRMED,
        "D12c": REFUTED,
        "G9": CONFIRMED,
        "E3": REFUTED,
    }


def test_the_opposite():
    opposite = ENDS | {IN_PLACE: (0.02, 1e-9), REBINDING: (1e-7, 0.0), ALIASING: (1e-7, 0.0)}
    assert of(replicas_curves(opposite, batch_norm_change=1e-7)) == {
        "D2b": REFUTED,
        "D5": CONFIRMED,
        "D6a": REFUTED,
        "D6b": CONFIRMED,
        "D12b": REFUTED,
        "D12c": CONFIRMED,
        "G9": REFUTED,
        "E3": CONFIRMED,
    }
