"""The names of the demos, rules, series and metrics of `convergence`."""

from lab.results.curves import key

# demos
EPOCHS = "epochs"  # to the target, x: images per batch
ACCURACY = "accuracy"  # x: epochs
US_PER_IMAGE = "us_per_image"  # x: images per batch
ONE_DEVICE = "one device"

# rules for the rate at a larger batch
FIXED, LINEAR, WARM_UP = "fixed rate", "rate x batch", "rate x batch, warm-up"
RULES = (FIXED, LINEAR, WARM_UP)

# metrics, beside the run's own settings
TARGET_PERCENT, TRAIN_IMAGES = "target_percent", "train_images"
NOT_REACHED_PERCENT, DIVERGED_PERCENT = "not_reached_percent", "diverged_percent"  # of all runs


def seed_of(rule: str, seed: int | str) -> str:
    """The series of a rule's epochs with one seed; `*` for all of them."""
    return f"{rule}, seed {seed}"


def rule_of(series: str) -> str:
    """The rule of a series of epochs."""
    return series.rpartition(", seed ")[0]


def readings_of(rule: str, batch_size: int, seed: int) -> str:
    """The series of the accuracies that one run's readings saw."""
    return f"{rule}, batch {batch_size}, seed {seed}"


def large_batch_penalty(rule: str) -> str:
    """The metric of the largest batch's epochs over the smallest's; with `_low` and `_high`."""
    return f"{key(rule)}_large_batch_penalty"
