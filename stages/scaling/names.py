"""Names of the demos, arms and metrics of `scaling`."""

from lab.parallel.cost_model import (
    HALVING_DOUBLING,
    ONE_BUCKET,
    PER_TENSOR,
    RING,
    STAR,
    allreduce_name,
)

# demos: the parts
ALONE = "without communication"  # steps of a net; x is images per device
MESSAGE, AFTER = "message", "message after computing"  # x is bytes
JOINING = "joining"  # a net's gradients to a bucket, and back
# demos: the steps
PREDICTED, T1, T2 = "predicted", "t1", "t2"
MEASURED, SAME_WEIGHTS = "measured", "same weights"
# demos: up to 1024 devices, a demo of each net
STRONG, WEAK = "strong", "weak"

# arms: the all-reduces of the steps, each as its algorithm and grouping
BY_NOTES = allreduce_name(STAR, PER_TENSOR)
RING_BUCKET = allreduce_name(RING, ONE_BUCKET)
ALLREDUCES = {
    BY_NOTES: (STAR, PER_TENSOR),
    allreduce_name(STAR, ONE_BUCKET): (STAR, ONE_BUCKET),
    RING_BUCKET: (RING, ONE_BUCKET),
    allreduce_name(HALVING_DOUBLING, ONE_BUCKET): (HALVING_DOUBLING, ONE_BUCKET),
}

# metrics
WORLD_SIZE = "world_size"
MEAN_ERROR, MAX_ERROR = "mean_error_percent", "max_error_percent"
MAX_RULE_MEAN_ERROR = "max_rule_mean_error_percent"
LINK, SHARED, OWN = "link", "shared", "own"
LENET_FIXED, LENET_PER_IMAGE = "lenet_fixed_ms", "lenet_us_per_image"
LENET_T2 = "lenet_star_per_tensor_t2_ms"
LENET_CROSSING = "lenet_star_per_tensor_crossing_batch"


def step(net: str, allreduce: str) -> str:
    """The arm of a net's steps."""
    return f"{net}, {allreduce}"


def net_and_allreduce(arm: str) -> tuple[str, str]:
    """The inverse of `step`."""
    net, _, allreduce = arm.partition(", ")
    return net, allreduce


def simulated(demo: str, net: str) -> str:
    """The demo of a net's simulated scaling, STRONG or WEAK."""
    return f"{demo}, {net}"
