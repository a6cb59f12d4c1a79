"""The names of the experiments, variants, series and metrics of `convergence`."""

from lab.core.shared_params import Stem

LENET, RESNET18 = NETS = "lenet", "resnet18"

# experiments of a net; of each variant at each batch size, by seed
EPOCHS = "epochs"  # to the target
REACHED = "reached"  # 1, or 0: then the epochs are the whole budget
BEST_RATE = "best_rate"  # of each optimizer at each batch size
US_PER_IMAGE = "us_per_image"  # of a step at each size, by start
# experiments of LeNet alone
SHORT_RUN = "short_run"  # test accuracy (percent) after equally many images, by seed: see `stale`
STALENESS = "staleness "
NOTES_US_PER_IMAGE = "notes_us_per_image"  # of the notes' pixels
# experiment of ResNet-18 on the notes' pixels, whose series are STEMS
BY_STEM = "resnet18_by_stem"  # test accuracy (percent) after equally many images, by seed
STEMS: tuple[Stem, Stem] = ("small", "original")
SMALL_STEM, ORIGINAL_STEM = STEMS

# rules for the rate of plain SGD at a larger batch
FIXED, SCALED = "fixed rate", "rate x batch, warm-up"
ROOT = "rate x square root of the batch, warm-up"
RULES = (FIXED, SCALED, ROOT)

# optimizers, each at its best rate
MOMENTUM, LARS = "momentum, best rate", "LARS, best rate"

# metrics
TRAIN_IMAGES = "train_images"
STEMS_TRAINED = "stems"  # their names, or none
# metrics of a net, beside its runs' own settings
TARGET_PERCENT, MAX_EPOCHS = "target_percent", "max_epochs"
SMALLEST, LARGEST = "smallest_batch", "largest_batch"
TUNED_BATCH = "tuned_batch"  # the largest at which best rates were looked for; 0: none
NOT_REACHED_PERCENT, DIVERGED_PERCENT = "not_reached_percent", "diverged_percent"  # of all runs

SMALL_BATCH = 16  # images: of the notes' pixels, timed beside their own batch
NOTES_SIDE = 28  # pixels


def of_net(name: str, net: str) -> str:
    """The experiment or metric of a net."""
    return f"{net}_{name}"


def at_batch(variant: str, batch_size: int | str) -> str:
    """The series of a variant at a batch size; `*` for all of them."""
    return f"{variant}, batch {batch_size}"


def batch(batch_size: int) -> str:
    """The series of a batch size alone."""
    return f"batch {batch_size}"


def stale(steps: int) -> str:
    """The series of gradients that are so many steps old."""
    return f"{STALENESS}{steps}"
