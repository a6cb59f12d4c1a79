"""Names of the experiments, variants and metrics of `scaling`."""

import re

from lab.parallel.cost_model import ONE_BUCKET, PER_TENSOR, RING, STAR, allreduce_name

NETS = ("lenet", "resnet18")
NOTES_IMAGES = {"lenet": 128, "resnet18": 256}  # of each of the notes' two devices

# experiments: the parts
ALONE = "without communication"  # steps of a net on all devices at once; x is images per device
ONE_DEVICE = "one device"  # steps of a net while the others wait; x is images
MESSAGE = "message"  # x is bytes; the same behind computing: see `behind`
JOINING = "joining"  # a net's gradients to a bucket, and back; x is tensors
# experiments: the steps, and what each start's parts predict of them
MEASURED, SAME_WEIGHTS = "measured", "same weights"
OTHERS = "beside the steps"  # of each net, SUMMING
IN_A_ROW = "in a row"  # LeNet's steps at the notes' batch, ms per step; x is their number
T1, T2 = "t1", "t2"
HALVES = "one half of the rounds over the other"  # of each step, in percent beyond 100
SUM_RULE, MAX_RULE = "t1 + t2", "max(t1, t2)"
# experiments: up to 1024 devices, an experiment of each net
STRONG, WEAK = "strong", "weak"
# up to 100,000 devices in hosts: by network, and by images of the whole batch
CLUSTER_WEAK, CLUSTER_STRONG = "ResNet-50, weak", "ResNet-50, strong"
SIMULATED = "simulated"  # device_kind

# variants: the all-reduces of the steps, each as its algorithm and grouping
BY_NOTES = allreduce_name(STAR, PER_TENSOR)
ALLREDUCES = {
    allreduce_name(algorithm, grouping): (algorithm, grouping)
    for algorithm in (STAR, RING)
    for grouping in (PER_TENSOR, ONE_BUCKET)
}
ALGORITHMS = tuple(dict.fromkeys(algorithm for algorithm, _ in ALLREDUCES.values()))

EFFICIENCY = "efficiency"  # computing's share of a step, by net; x is EQUAL_IMAGES
EQUAL_IMAGES = 128  # of each device, whatever the net

# variants of a net's steps at the notes' batch, see `at_notes_batch`
COMPUTING = "computing"  # on all devices at once
WHOLE_BATCH = "whole batch on one device"
STEP = "step"  # gradients summed as in the notes, after computing
SUMMING = "summing alone"  # likewise

# metrics: of the steps' errors, each the median over the starts
MEAN_ERROR, MAX_RULE_MEAN_ERROR = "mean_error_percent", "max_rule_mean_error_percent"
LARGEST_ERROR, NOISE_FLOOR = "largest_error_percent", "noise_floor_percent"
COVERAGE = "coverage_percent"  # of measured times that lie in their intervals
IN_A_ROW_ERROR = "in_a_row_error_percent"  # of the prediction; below zero it is too short
WORLD_SIZE = "world_size"
LINK, SHARED, OWN = "link", "shared", "own"


def step(net: str, allreduce: str) -> str:
    """The variant of a net's steps."""
    return f"{net}, {allreduce}"


def net_and_allreduce(variant: str) -> tuple[str, str]:
    """The inverse of `step`."""
    net, _, allreduce = variant.partition(", ")
    return net, allreduce


def at_notes_batch(net: str) -> str:
    """A net's steps at the notes' batch on two devices; x is images per device."""
    return f"{net} at the notes' batch"


def simulated(experiment: str, net: str) -> str:
    """The experiment of a net's simulated scaling, STRONG or WEAK."""
    return f"{experiment}, {net}"


def behind(net: str, images: int) -> str:
    """The experiment of lists of tensors that are summed behind computing a step; x: the longest's
    bytes.

    Where that is not the shortest of all lists, every other tensor is a short one.
    """
    return f"behind {net}, {images} images"


def computation(experiment: str) -> tuple[str, int] | None:
    """The inverse of `behind`; None for another experiment."""
    match = re.fullmatch(r"behind (\w+), (\d+) images", experiment)
    return (match[1], int(match[2])) if match else None


def tensors(algorithm: str, count: int) -> str:
    """The variant of so many tensors, summed one after the other."""
    return f"{algorithm}, {count} tensors"


def count_of(variant: str) -> tuple[str, int] | None:
    """The inverse of `tensors`; None for another variant."""
    match = re.fullmatch(r"(.+), (\d+) tensors", variant)
    return (match[1], int(match[2])) if match else None
