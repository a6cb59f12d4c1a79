"""The rules of the claims about kinds of parallelism, and their verdicts on made-up counts."""

from lab.results.curves import rows_of
from stages.parallelism.__main__ import summarise
from stages.parallelism.claims import CLAIMS
from stages.parallelism.names import ALEXNET, TENSOR
from tests.claim_cases import CONFIRMED, REFUTED, check_rules
from tests.helpers import verdicts
from tests.stages.parallelism.made_up import HELD, MOVED, PARALLELISM, RATIOS, parallelism_curves


def of(curves):
    return verdicts(CLAIMS, "parallelism", summarise(curves, PARALLELISM), rows_of(curves))


def test_each_rule_gives_each_verdict_that_it_can():
    check_rules(
        "parallelism",
        {
            "G7a": {CONFIRMED: (1.0, 2.0, 1.5), REFUTED: (2.0, 3.0, 1.0)},
            "G7b": {CONFIRMED: (3.0, 4.0, 2.0), REFUTED: (1.0, 4.0, 2.0)},
            "G12a": {CONFIRMED: (1.5, 15.0), REFUTED: (1.5, 0.9)},
        },
    )


def test_the_better_way_to_split_decides_at_the_notes_batch():
    assert of(parallelism_curves()) == {"G7a": CONFIRMED, "G7b": REFUTED, "G12a": CONFIRMED}
    opposite = parallelism_curves(
        RATIOS | {ALEXNET: 180}, MOVED | {TENSOR: 1e-3}, HELD | {TENSOR: 5.0}
    )
    assert of(opposite) == {"G7a": REFUTED, "G7b": CONFIRMED, "G12a": REFUTED}
