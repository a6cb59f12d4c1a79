"""The rules of the claims about landscapes."""

from tests.claim_cases import CONFIRMED, REFUTED, check_rules


def test_each_rule_gives_each_verdict_that_it_can():
    check_rules(
        "landscapes",
        {
            "F2a": {CONFIRMED: (1.09, 1.02), REFUTED: (1.09, 1.085)},
            "F2b": {CONFIRMED: (1.09, -1.05, 1.02, -1.21), REFUTED: (1.09, -1.05, 1.02, -1.26)},
            "F4a": {CONFIRMED: (-2.0, 2.0), REFUTED: (1.0, 2.0)},
            "F4b": {CONFIRMED: ([0.5, 0.1, 0.0],), REFUTED: ([0.5, 0.5, 0.4],)},
        },
    )
