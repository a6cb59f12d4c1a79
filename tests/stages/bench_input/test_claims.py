"""The rules of the claims about a training step's parts."""

import pytest

from lab.claims.evidence import NotTestableError
from stages.bench_input.page import claims
from tests.claim_cases import CONFIRMED, REFUTED, check_made_up


def test_made_up_results_come_to_the_verdict_and_the_number_that_they_were_made_for():
    check_made_up(
        "bench_input",
        {
            "D10": (CONFIRMED, 100 * 3 / 30),
            "D12p": (REFUTED, 5),
            "G12b": (CONFIRMED, 1.5),
            "G12p": (CONFIRMED, 36 / 27),
            "G12w": (REFUTED, 0.75),
        },
    )


def test_one_device_has_nobody_to_wait_for_it():
    with pytest.raises(NotTestableError, match="one device"):
        claims.idle_share(1, [1.0] * 8, [3.0] * 8)
