"""The rules of the claims about schedules and warm-up."""

import pytest

from lab.claims.evidence import NotTestableError
from lab.claims.rules import Estimate
from stages.schedules import claims
from tests.claim_cases import CONFIRMED, INCONCLUSIVE, REFUTED, check_rules


def test_each_rule_gives_each_verdict_that_it_can():
    check_rules(
        "schedules",
        {
            "F20a": {CONFIRMED: ([1, 2], [0, 0.6]), REFUTED: ([1, 2], [0.1, 0.2])},
            "F20b": {
                CONFIRMED: ([1, 2], [0.5, 1], [0, 0.1]),
                REFUTED: ([1, 2], [0.5, 1], [0.3, 0.6]),
                INCONCLUSIVE: ([1, 2], [0.5, 1], [0, 0.6]),
            },
        },
        {
            claims.last_difference: lambda low, high: (
                *([(low + high) / 200], [low / 100], [high / 100]),
                *([0.0], [0.0], [0.0]),
            )
        },
    )


def test_closed_forms():
    assert claims.prevented([1, 2, 3], [0, 0.8, 1], [0.1, 0.2, 0.6]) == Estimate(
        pytest.approx(100 * (1 - 0.8 / 1.8)), pytest.approx(40), pytest.approx(75)
    )


def test_where_no_run_fails_nothing_is_said_of_failures():
    with pytest.raises(NotTestableError, match="no run fails at any rate up to 2"):
        claims.most_failures([1, 2], [0, 0])
