"""The numbers that the rows of a training run give, each derived once."""

import math

from lab.results.chance import is_chance
from lab.results.findings import Finding, Over, median, missing, of_one_run
from lab.results.measurements import Results
from lab.results.reasons import GUESSES, Reason
from lab.results.stats import PERCENT, summarise

METRICS = ("test_accuracy_percent", "train_loss", "epoch_s")
OF_TIMES = False
FEWEST_STEPS = 50  # after fewer, an accuracy is an accident
SEVERAL = 3  # epochs, of whose times the median is no accident of one


def findings(results: Results) -> dict[str, Finding]:
    """Return what a run came to: the medians of its seeds, and of its epochs' times."""
    last = max(results.xs("epochs", "test_accuracy"), default=0.0)
    accuracy = results.samples("epochs", "test_accuracy", last)
    loss = results.samples("epochs", "train_loss", last)
    seconds, resumed = (results.samples("epochs", name) for name in ("seconds", "resumed"))
    percent = median(accuracy * 100, "%", Over.SEEDS, PERCENT, "more")
    if percent and guesses(percent.value / 100, results):
        percent = missing(Reason(GUESSES), "%")
    found = {
        "test_accuracy_percent": percent,
        "train_loss": median(loss, "", Over.SEEDS, better="less"),
    }
    timed = [s for s, again in zip(seconds.values, resumed.values, strict=False) if not again]
    if len(timed) >= SEVERAL and not shares_a_device(results):
        found["epoch_s"] = of_one_run(summarise(timed).median, "s", "less")
    return found


def shares_a_device(results: Results) -> bool:
    """Return whether several devices of a run are one: their time says nothing of several GPUs."""
    how = results.conditions
    return bool(how["num_devices"] > 1 and how["device_kind"] != "cuda")


def guesses(accuracy: float, results: Results) -> bool:
    """Return whether a run's last accuracy is near chance, or comes after a handful of steps."""
    recipe = {"test_images": 10_000, **results.conditions}  # which older results do not tell
    steps = recipe["num_epochs"] * math.ceil(recipe["train_images"] / recipe["batch_size"])
    return steps < FEWEST_STEPS or is_chance(accuracy, recipe["test_images"])
