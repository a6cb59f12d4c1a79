"""The rules of the claims about a training step's parts."""

import pytest

from lab.claims.evidence import NotTestableError
from stages.bench_input import claims
from tests.claim_cases import CONFIRMED, REFUTED, check_made_up, check_rules


def test_each_rule_gives_each_verdict_that_it_can():
    check_rules(
        "bench_input",
        {},
        {
            claims.step_over_step: lambda low, high: tuple(
                [[low / 6, high / 6]] * 6 + [[1 / 6, 1 / 6]] * 6
            ),
            claims.compute_over_sync: lambda low, high: (
                *([low / 2, high / 2], [low / 2, high / 2]),
                [1, 1],
            ),
            claims.idle_share: lambda low, high: (
                2.0,
                [0.5, 0.5],
                *[[(100 / low - 1) / 6, (100 / high - 1) / 6]] * 6,
            ),
        },
    )


def test_made_up_results_come_to_the_verdict_and_the_number_that_they_were_made_for():
    check_made_up(
        "bench_input",
        {"G12b": (REFUTED, 1), "D10": (CONFIRMED, 100 * 6 / 33), "E5c": (REFUTED, 9 / 6)},
    )


def test_closed_forms():
    assert claims.idle_share(2, [1.0], *[[3.0]] * 6).value == pytest.approx(100 * 2 / 20)
    with pytest.raises(NotTestableError, match="one device"):
        claims.idle_share(1, [1.0], *[[3.0]] * 6)
