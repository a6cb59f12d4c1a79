"""The numbers that the rows of a training run give, each derived once."""

from lab.results.findings import Better, Finding, Over, Samples, missing, of_one_run
from lab.results.measurements import Results
from lab.results.stats import summarise

METRICS = ("test_accuracy_percent", "train_loss", "epoch_s")


def findings(results: Results) -> dict[str, Finding]:
    """What one run came to: one seed and one start, which decide nothing."""
    accuracy, loss, seconds, resumed = (
        results.samples("epochs", column)
        for column in ("test_accuracy", "train_loss", "seconds", "resumed")
    )
    return {
        "test_accuracy_percent": last(accuracy * 100, "%", "more"),
        "train_loss": last(loss, "", "less"),
        "epoch_s": epoch_seconds(seconds, resumed),
    }


def last(epochs: Samples, unit: str, better: Better) -> Finding:
    if epochs.missing:
        return missing(epochs.missing, unit)
    return of_one_run(epochs.values[-1], unit, better, Over.SEEDS)


def epoch_seconds(seconds: Samples, resumed: Samples) -> Finding:
    """The median over the epochs, of which interrupted ones count only if all are."""
    if seconds.missing:
        return missing(seconds.missing, "s")
    pairs = zip(seconds.values, resumed.values, strict=True)
    timed = [s for s, again in pairs if not again] or seconds.values
    return of_one_run(summarise(timed).median, "s", "less")
