"""The names of the experiments, series and metrics of `replicas`."""

from lab.results.curves import key

# experiments by step: the largest difference of a weight
FROM_ONE_DEVICE, APART = "from_one_device", "apart"
# experiments by seed: % of test images labelled correctly, and % of its length that a gradient
# changes
ACCURACY, NORM_ACCURACY = "accuracy", "norm_accuracy"
GRADIENT_CHANGE = "gradient_change"
# experiments of one number each
FOUR_STEPS, ONE_STEP, CELLS = "four_steps", "one_step", "cells"

# variants of training
IN_PLACE = "in place, copies (the book)"
REBINDING = "all-reduce rebinds"
ALIASING = "replicas without a copy"
MEANS = "mean of the shards' means"

# variants of accuracy, the first of both experiments
ONE_DEVICE = "one device"
LOCAL = "several devices, as they are"
SEPARATE = "several devices, batch norm of their own"

# nets whose gradient is compared
WITH_BATCH_NORM, WITHOUT_BATCH_NORM = "ResNet-18, with batch norm", "LeNet, without"

# what the replicas of ResNet-18 differ in
RUNNING_STATISTICS = "running statistics"

# how far weights are from one device's, % of these's length
SUMMED_PARAMETERS = "parameters summed for gradients"

# the notes' short cells
ZEROS = "gradients that are zeros"
FULLER_SHARE = "% of the rows on the fuller device"
BLANK_FORMATS = "formats with a blank that print"
EVALUATING = "devices that compute an accuracy"

# the notes' programs that compute on a device, and where they stand
WITHOUT_GPU = (
    "without_gpu"  # an experiment: 1 for a program that runs without a GPU, 0 for one that stops
)
PRODUCTS, WAITED_PRODUCTS = "products on try_gpu()", "products on try_gpu(), waited for"
MATRICES = "matrices on two devices"
PRODUCTS_OF_BOTH = "products on each device, waited for"
COPIES = "copies to the CPU, waited for"
MOVED_PARAMETERS = "parameters moved to try_gpu(0)"
ALL_REDUCE = "all-reduce over try_gpu(0) and try_gpu(1)"
SCATTER = "scatter to cuda:0 and cuda:1"
SCRATCH_ON_ONE, SCRATCH_ON_TWO = "training from scratch, 1 GPU", "training from scratch, 2 GPUs"
CONCISE_ON_ONE, CONCISE_ON_TWO = "concise training, 1 GPU", "concise training, 2 GPUs"
PLACES = {
    PRODUCTS: "000:136-157",
    WAITED_PRODUCTS: "000:161-171",
    MATRICES: "000:196-204",
    PRODUCTS_OF_BOTH: "000:208-230",
    COPIES: "000:237-257",
    MOVED_PARAMETERS: "000:322-326 001:520-524 002:65-67 004:49-51",
    ALL_REDUCE: "000:340-346 001:535-540 002:91-97 004:67-70",
    SCATTER: "000:352-359 001:542-549 002:111-118 004:81-86",
    SCRATCH_ON_ONE: "000:424 002:200",
    SCRATCH_ON_TWO: "000:430 001:603 002:205 004:139",
    CONCISE_ON_ONE: "000:552 002:327 003:94",
    CONCISE_ON_TWO: "000:558 001:677 002:332",
}

# metrics
BATCH_NORM_CHANGE = "batch_norm_gradient_change_percent"
EPOCHS, TRAIN_IMAGES = "accuracy_epochs", "accuracy_train_images"
TWO_DEVICES = "two_devices"  # the kind of those that EVALUATING is of; all else is the CPU's


def millionths(variant: str, experiment: str) -> str:
    """The metric of a variant's difference after the last step."""
    return f"{key(variant)}_{experiment}_millionths"


def replica_of(variant: str, number: int) -> str:
    """The series of a replica's accuracy; the notes evaluate number 1 alone."""
    return f"{variant}, replica {number}"
