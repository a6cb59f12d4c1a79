"""The names of the experiments, series, networks and metrics of `parallelism`."""

from lab.results.curves import key

# experiments by kind of parallelism; x: images per step
MOVED_MB = "moved_mb"
HELD_MB, PARAMS_MB = "total_mb", "params_mb"
# of the wide net, by hand and by torch's libraries; calls: of the process that makes most
WIDE_MOVED_MB, WIDE_MODEL_MB, WIDE_CALLS = "wide_moved_mb", "wide_model_mb", "wide_calls"
WIDE_STATE_MB = "wide_state_mb"  # parameters and gradients of the wide net; x: devices
DIFFERENCE_EPS = "difference_eps"  # of the gradient from one device's, in roundings of float64
IDLE_PERCENT, IDLE_BY_FLOP_PERCENT = "idle_percent", "idle_by_flop_percent"

# experiments by number of devices
MOST_SENT, OTHERS_MOVE = "most_sent", "others_move"

# experiments by start: milliseconds
LENET_STEP_MS, WIDE_STEP_MS, EVALUATION_MS = "lenet_step_ms", "wide_step_ms", "evaluation_ms"
TORCH_STEP_MS = "torch_step_ms"  # the wide net's, by hand and by torch's libraries

# experiments by network
FLOP_PER_BYTE = "ratio_flop_per_byte"  # x: images per step
COUNTED = "ratio_counted"  # x: MB of parameters, y: GFLOP of an image

# kinds of parallelism
ONE, DATA, PIPELINE, TENSOR = "one device", "data parallel", "pipeline", "tensor parallel"

# the same by torch's libraries
FULLY_SHARD, PARALLELIZE = "fully_shard (FSDP2)", "parallelize_module (DTensor)"
PIPELINING = "torch.distributed.pipelining"
BY_HAND = {FULLY_SHARD: DATA, PARALLELIZE: TENSOR, PIPELINING: PIPELINE}

# ways to sum, and devices that evaluate
NOTES_ALLREDUCE, SHARDED_ALLREDUCE = "one device adds (the notes)", "each device adds a share"
ON_ONE, ON_BOTH = "on one device", "on both devices"

# networks
LENET, SMALL_RESNET_18 = "LeNet", "ResNet-18 (28 x 28)"
ALEXNET, GOOGLENET, INCEPTION_V3 = "AlexNet", "GoogLeNet (Inception v1)", "Inception v3"
RESNET_18, RESNET_50 = "ResNet-18", "ResNet-50"
NOTES_NETS = (LENET, SMALL_RESNET_18)
RANKED = ((GOOGLENET, INCEPTION_V3), (RESNET_18, RESNET_50), (ALEXNET,))  # by the notes

# metrics
LARGEST_DIFFERENCE_EPS = "largest_difference_eps"
# a pipeline of micro-batches on the most devices, its parts taking equally long, or by their FLOP
PIPELINE_IDLE, PIPELINE_IDLE_BY_FLOP = "pipeline_idle_percent", "pipeline_idle_by_flop_percent"
INCEPTION_OVER_RESNET = "flop_per_byte_inception_over_resnet"
RESNET_OVER_ALEXNET = "flop_per_byte_resnet_over_alexnet"


def in_micro_batches(count: int) -> str:
    """A pipeline through which a batch goes in `count` parts."""
    return f"{PIPELINE} of {count} micro-batches"


def on_devices(kind: str, count: int) -> str:
    """The series of a kind of parallelism on `count` devices."""
    return f"{kind}, {count} devices"


def kind_and_devices(series: str) -> tuple[str, str]:
    """The two parts of a series: `pipeline` and `2 devices`."""
    kind, _, devices = series.partition(", ")
    return kind, devices


def crossing_images(series: str) -> str:
    """The metric of the batch from which on data parallel moves less than a series."""
    return f"{key(series)}_crossing_images"
