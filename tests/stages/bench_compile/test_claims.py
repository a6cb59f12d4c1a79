"""The rules of the claims about compiling."""

import pytest

from lab.claims.rules import Estimate
from stages.bench_compile import claims
from tests.claim_cases import CONFIRMED, INCONCLUSIVE, REFUTED, check_made_up, check_rules

# seconds of calls beside eager ones of 1 s
EAGER, FASTER, SLOWER, UNSURE = [1.0, 1.0], [0.6, 0.7], [2.0, 2.5], [1.1, 0.7]


def test_each_rule_gives_each_verdict_that_it_can():
    check_rules(
        "bench_compile",
        {
            "A4": {CONFIRMED: ([0, -1e-6],), REFUTED: ([0, -1e-3],)},
            "A6b": {
                CONFIRMED: ([1] * 20, [1] * 20, [2, 2], [1, 1]),
                REFUTED: ([1] * 20, [5000] * 20, [2, 2], [1, 1]),
                INCONCLUSIVE: ([1] * 20, [1] * 20, [2, 0.5], [1, 1]),
            },
            "A7a": {CONFIRMED: ([0.0],), REFUTED: ([0.1],)},
            "A7b": {
                CONFIRMED: (EAGER, *[FASTER] * 3, *[SLOWER] * 2),
                REFUTED: (EAGER, *[FASTER] * 2, *[SLOWER] * 3),
                INCONCLUSIVE: (EAGER, *[FASTER] * 2, UNSURE, *[SLOWER] * 2),
            },
        },
    )


def test_made_up_results_come_to_the_verdict_and_the_number_that_they_were_made_for():
    check_made_up(
        "bench_compile",
        {"A3": (REFUTED, 36 / 20), "A6a": (CONFIRMED, 40 / 32), "A6c": (CONFIRMED, 36 / 32)},
    )


def test_closed_forms():
    shares = claims.share_faster(EAGER, FASTER, FASTER, SLOWER, SLOWER, UNSURE)
    assert shares == Estimate(60, 40, 60)
    assert claims.thousand_calls([10] * 10, [0] * 10, [1.0], [1.0]).value == pytest.approx(
        (100 + 990) / 990
    )
