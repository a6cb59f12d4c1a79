"""The numbers derived from a training run's rows."""

import math

from lab.results.chance import is_chance
from lab.results.findings import Finding, Over, median, missing, of_one_run
from lab.results.measurements import Results
from lab.results.reasons import GUESSES, Reason
from lab.results.stats import PERCENT, summarise

METRICS = ("test_accuracy_percent", "train_loss", "epoch_s")
OF_TIMES = False
FEWEST_STEPS = 50  # after fewer, an accuracy is an accident
SEVERAL = 3  # timed epochs: their median survives one accident


def findings(results: Results) -> dict[str, Finding]:
    """Return a run's final accuracy and loss, medians over seeds, and its median epoch time."""
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
    """Return whether a run's devices share hardware: its times say nothing about several GPUs."""
    how = results.conditions
    return bool(how["num_devices"] > 1 and how["device_kind"] != "cuda")


def guesses(accuracy: float, results: Results) -> bool:
    """Return whether a run's last accuracy is near chance, or comes after a handful of steps."""
    recipe = {"test_images": 10_000, **results.conditions}  # older results lack test_images
    steps = recipe["num_epochs"] * math.ceil(recipe["train_images"] / recipe["batch_size"])
    return steps < FEWEST_STEPS or is_chance(accuracy, recipe["test_images"])
