"""The names of the demos, series and metrics of `replicas`."""

from lab.results.curves import key

# demos by step: the largest difference of a weight
FROM_ONE_DEVICE, APART = "from_one_device", "apart"
# demos by seed: % of test images labelled correctly, and % of its length that a gradient changes
ACCURACY, NORM_ACCURACY = "accuracy", "norm_accuracy"
GRADIENT_CHANGE = "gradient_change"
# demos of one number each
FOUR_STEPS, CELLS = "four_steps", "cells"

# variants of training
IN_PLACE = "in place, copies (the book)"
REBINDING = "all-reduce rebinds"
ALIASING = "replicas without a copy"
MEANS = "mean of the shards' means"

# arms of accuracy, the first of both demos
ONE_DEVICE = "one device"
LOCAL = "several devices, as they are"
SEPARATE = "several devices, batch norm of their own"

# nets whose gradient is compared
WITH_BATCH_NORM, WITHOUT_BATCH_NORM = "ResNet-18, with batch norm", "LeNet, without"

# what the replicas of ResNet-18 differ in
RUNNING_STATISTICS = "running statistics"

# the notes' short cells
ZEROS = "gradients that are zeros"
FULLER_SHARE = "% of the rows on the fuller device"
BLANK_FORMATS = "formats with a blank that print"

# metrics
BATCH_NORM_CHANGE = "batch_norm_gradient_change_percent"
EPOCHS, TRAIN_IMAGES = "accuracy_epochs", "accuracy_train_images"


def millionths(variant: str, demo: str) -> str:
    """The metric of a variant's difference after the last step."""
    return f"{key(variant)}_{demo}_millionths"


def replica_of(variant: str, number: int) -> str:
    """The series of a replica's accuracy; the notes evaluate number 1 alone."""
    return f"{variant}, replica {number}"
