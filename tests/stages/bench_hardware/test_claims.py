"""The rules of the claims about processors, memory and GPUs."""

import pytest

from lab.claims.evidence import NotTestableError
from stages.bench_hardware.page import claims
from tests.claim_cases import CONFIRMED, REFUTED, check_made_up


def test_made_up_results_come_to_the_verdict_and_the_number_that_they_were_made_for():
    check_made_up(
        "bench_hardware",
        {
            "G1a": (CONFIRMED, 15),
            "G1b": (CONFIRMED, 150),
            "G2a": (CONFIRMED, 50),
            "G2b": (CONFIRMED, 3),
            "G2c": (CONFIRMED, 8),
            "G2d": (REFUTED, 0.1),
            "G2e": (CONFIRMED, 64),
            "G3a": (CONFIRMED, 10),
            "G3b": (CONFIRMED, 100),
            "G3c": (CONFIRMED, 6),
            "G4a": (CONFIRMED, 8),
            "G4b": (CONFIRMED, 3),
            "G4c": (CONFIRMED, 80 / 128),
            "G4d": (CONFIRMED, 50),
            "G5a": (CONFIRMED, 4),
            "G5b": (CONFIRMED, 150),
            "G5c": (CONFIRMED, 4),
        },
    )


def test_one_setting_alone_is_compared_with_nothing():
    with pytest.raises(NotTestableError, match="it needs two"):
        claims.all_cores_over_one([1, 1], [5, 6])
    with pytest.raises(NotTestableError, match="both 4096 and 262144"):
        claims.second_over_first([4096.0, 8192.0], [5, 6])
