"""The rules of the claims about the speed of training."""

from stages.bench_training.page.claims import over_the_notes
from tests.claim_cases import CONFIRMED, check_made_up

ONES, NINES = [1] * 8, [9] * 8


def test_a_peer_is_held_against_the_notes_loop_with_its_own_loader():
    for workers, over in ((4, 2.0), (0, 3.0)):
        assert over_the_notes([18] * 8, workers, [9] * 8, [6] * 8).value == over


def test_made_up_results_come_to_the_verdict_and_the_number_that_they_were_made_for():
    expected = {
        "D9a": (CONFIRMED, 40 / 30),
        "D9b": (CONFIRMED, 2.0),
        "D9c": (CONFIRMED, 3.0),
        "D9d": (CONFIRMED, 1.1),
        "D9e": (CONFIRMED, 1.2),
        "D12d": (CONFIRMED, 10 / 9.6),
        "D12g": (CONFIRMED, 2 / 1.25),
        "D12h": (CONFIRMED, 1.6 / 1.25),
        "E1c": (CONFIRMED, 90 / 1000 * 60_000 / 256),
    }
    check_made_up("bench_training", expected)
