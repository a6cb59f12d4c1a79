"""The names of the demos, series, networks and metrics of `parallelism`."""

from lab.results.curves import key

# demos by kind of parallelism; x: images per step
MOVED_MB = "moved_mb"
HELD_MB, PARAMS_MB, ACTIVATIONS_MB = "total_mb", "params_mb", "activations_mb"
DIFFERENCE_EPS = "difference_eps"  # of the gradient from one device's, in roundings of float64
IDLE_PERCENT, IDLE_BY_FLOP_PERCENT = "idle_percent", "idle_by_flop_percent"

# demos by network
FLOP_PER_BYTE = "ratio_flop_per_byte"  # x: images per step
COUNTED = "ratio_counted"  # x: MB of parameters, y: GFLOP of an image

# kinds of parallelism
ONE, DATA, PIPELINE, TENSOR = "one device", "data parallel", "pipeline", "tensor parallel"

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
