"""The rules of the claims about landscapes."""

import pytest

from stages.landscapes.page import claims
from tests.claim_cases import CONFIRMED, REFUTED, check_rules

FLAT, BENT = [0, 0.1, 0], [0, 1, 0]
MINIMUM, SADDLE, MAXIMUM = (0.0, 1.0), (0.5, 0.5), (1.0, 0.0)  # shares of neighbours: lower, higher


def test_each_rule_gives_each_verdict_that_it_can():
    check_rules(
        "landscapes",
        {
            "F2a": {CONFIRMED: (1.09, 1.02), REFUTED: (1.09, 1.085)},
            "F2b": {CONFIRMED: (1.09, -1.05, 1.02, -1.21), REFUTED: (1.09, -1.05, 1.02, -1.26)},
            "F2c": {CONFIRMED: (BENT, FLAT), REFUTED: (FLAT, BENT)},
            "F3a": {CONFIRMED: (0.5,), REFUTED: (0.0,)},
            "F3b": {
                CONFIRMED: (*MINIMUM, *SADDLE, *SADDLE, *MINIMUM),
                REFUTED: (*MINIMUM, *SADDLE, *SADDLE, *MAXIMUM),
            },
            "F4a": {CONFIRMED: (2.0, -2.0), REFUTED: (-2.0, 2.0)},
        },
        {
            claims.share_ratio: lambda low, high: ([low, high] * 4, [1.0] * 8),
            claims.over_number: lambda low, high: ([145 * low, 145 * high] * 4, 145.0),
        },
    )


def test_a_bend_is_a_second_difference():
    assert claims.roughness_ratio([0, 1, 4, 9], [0, 1, 2, 4]).value == pytest.approx(2)
