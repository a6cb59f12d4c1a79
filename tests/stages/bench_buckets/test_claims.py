"""The rules of the claims about sums during the backward pass."""

from tests.claim_cases import CONFIRMED, check_made_up


def test_made_up_results_come_to_the_verdict_and_the_number_that_they_were_made_for():
    """122 ms with sums after the pass, 106 with sums in it; 12 of 16 MB are ready at 10 of 60."""
    check_made_up("bench_buckets", {"C4e": (CONFIRMED, 122 / 106), "C4f": (CONFIRMED, 75)})
