"""Names of the demos, arms and metrics of `scaling`."""

from lab.parallel.cost_model import ONE_BUCKET, PER_TENSOR, RING, STAR, allreduce_name

NETS = ("lenet", "resnet18")
NOTES_IMAGES = {"lenet": 128, "resnet18": 256}  # of each of the notes' two devices

# demos: the parts
ALONE = "without communication"  # steps of a net on all devices at once; x is images per device
ONE_DEVICE = "one device"  # steps of a net while the others wait; x is images
MESSAGE, AFTER = "message", "message after computing"  # x is bytes
JOINING = "joining"  # a net's gradients to a bucket, and back; x is tensors
# demos: the steps, and what each start's parts predict of them
MEASURED, SAME_WEIGHTS = "measured", "same weights"
OTHERS = "beside the steps"  # of each net, what only some claims are about
T1, T2 = "t1", "t2"
ERRORS = "error"  # the mean over the steps, of the arms SUM_RULE and MAX_RULE
SUM_RULE, MAX_RULE = "t1 + t2", "max(t1, t2)"
# demos: up to 1024 devices, a demo of each net
STRONG, WEAK = "strong", "weak"
FLOP_PER_PARAMETER = "FLOP per parameter"  # of a training image, by net

# arms: the all-reduces of the steps, each as its algorithm and grouping
BY_NOTES = allreduce_name(STAR, PER_TENSOR)
RING_BUCKET = allreduce_name(RING, ONE_BUCKET)
ALLREDUCES = {BY_NOTES: (STAR, PER_TENSOR), RING_BUCKET: (RING, ONE_BUCKET)}

EFFICIENCY = "efficiency"  # computing's share of a step, by net; x is EQUAL_IMAGES
EQUAL_IMAGES = 128  # of each device, whatever the net

# arms of a net's steps at the notes' batch, see `at_notes_batch`; some are also of OTHERS
COMPUTING = "computing"  # on all devices at once
WHOLE_BATCH = "whole batch on one device"
STEP = "step"  # gradients summed as in the notes, after computing
SUMMING = "summing alone"  # likewise
OVERLAPPED_STEP = "overlapping step"  # of DistributedDataParallel
BUCKET_ALONE = "library, one bucket, alone"  # what that step has to hide
LARGER = "step with gradients 16 times as large"
TIMES_LARGER = 16  # about what Inception and AlexNet, the notes' examples, differ by (parallelism)

# metrics; the first two with _low, _high
MEAN_ERROR, MAX_RULE_MEAN_ERROR = "mean_error_percent", "max_rule_mean_error_percent"
WORLD_SIZE = "world_size"
LINK, SHARED, OWN = "link", "shared", "own"


def step(net: str, allreduce: str) -> str:
    """The arm of a net's steps."""
    return f"{net}, {allreduce}"


def net_and_allreduce(arm: str) -> tuple[str, str]:
    """The inverse of `step`."""
    net, _, allreduce = arm.partition(", ")
    return net, allreduce


def at_notes_batch(net: str) -> str:
    """The demo of a net's steps at the notes' batch on two devices; x is images per device."""
    return f"{net} at the notes' batch"


def simulated(demo: str, net: str) -> str:
    """The demo of a net's simulated scaling, STRONG or WEAK."""
    return f"{demo}, {net}"
