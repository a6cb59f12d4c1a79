"""The numbers that the rows of a training run give, each derived once."""

from lab.results.findings import Better, Finding, Over, Samples, missing, of_one_run
from lab.results.measurements import Results
from lab.results.stats import summarise

METRICS = ("test_accuracy_percent", "train_loss", "epoch_s")
OF_TIMES = False
SEVERAL = 3  # epochs, of whose times the median is no accident of one


def findings(results: Results) -> dict[str, Finding]:
    """What one run came to: one seed and one start, which decide nothing."""
    accuracy, loss, seconds, resumed = (
        results.samples("epochs", column)
        for column in ("test_accuracy", "train_loss", "seconds", "resumed")
    )
    found = {
        "test_accuracy_percent": last(accuracy * 100, "%", "more"),
        "train_loss": last(loss, "", "less"),
    }
    timed = [s for s, again in zip(seconds.values, resumed.values, strict=False) if not again]
    if len(timed) >= SEVERAL:
        found["epoch_s"] = of_one_run(summarise(timed).median, "s", "less")
    return found


def last(epochs: Samples, unit: str, better: Better) -> Finding:
    if epochs.missing:
        return missing(epochs.missing, unit)
    return of_one_run(epochs.values[-1], unit, better, Over.SEEDS)
