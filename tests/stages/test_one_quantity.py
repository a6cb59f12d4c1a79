"""One quantity has one value, whichever stage measures it."""

from lab.results.documents import read_results
from lab.results.findings import Finding, median
from stages.bench_input.measure.names import BOOK, NO_WORKERS, WHOLE
from stages.bench_training import findings as of_training
from stages.bench_training.measure.names import NOTES_WORKERS
from stages.together.measure.names import NOTES_WAY
from tests.helpers import COMMITTED

STEPS = 235  # of the notes' epoch


def test_the_notes_step_of_lenet_takes_as_long_in_each_stage_of_a_run():
    """In a whole epoch, in turns of a few steps, and split over halves of the processor."""
    together, training, loading = (
        read_results(COMMITTED / "reports" / stage)
        for stage in ("together", "bench_training", "bench_input")
    )

    def split(loader: str) -> Finding:
        return median(loading.samples("step", loader, net="lenet", part=WHOLE) * 1e-3, "s")

    epoch = median(together.samples("seconds", NOTES_WAY) * (1 / STEPS), "s")
    turn = of_training.findings(training)["lenet_notes_s"]
    # on a processor an epoch of `together` has no workers, and a turn as many as are faster
    of_the_epoch = BOOK if "cuda" in epoch.device_kinds else NO_WORKERS
    of_the_turn = BOOK if training.conditions[NOTES_WORKERS] else NO_WORKERS
    for one, other in ((epoch, split(of_the_epoch)), (turn, split(of_the_turn))):
        assert one.low <= other.high and other.low <= one.high, (one, other)
