"""One quantity has one value, whichever stage measures it."""

from itertools import combinations

from lab.results.derived import derivation_of
from lab.results.documents import read_results
from lab.results.findings import Finding, median
from stages.together.measure.time_to_accuracy import NOTES_WAY
from tests.helpers import COMMITTED

STEPS = 235  # of the notes' epoch


def finding(stage: str, name: str) -> Finding:
    results = read_results(COMMITTED / "reports" / stage)
    return derivation_of(stage).findings(results)[name]


def test_the_notes_step_of_lenet_takes_as_long_in_each_stage_of_a_run():
    """In a whole epoch, in turns of a few steps, and split over halves of the processor."""
    epochs = read_results(COMMITTED / "reports" / "together").samples("seconds", NOTES_WAY)
    found = {
        "together": median(epochs * (1 / STEPS), "s"),
        "bench_training": finding("bench_training", "lenet_notes_s"),
        "bench_input": finding("bench_input", "book_step_s"),
    }
    for one, other in combinations(found, 2):
        a, b = found[one], found[other]
        assert a.low <= b.high, (one, a, other, b)
        assert b.low <= a.high, (one, a, other, b)
