"""The names of the demos, variants and metrics of `replicas`."""

from lab.results.curves import key

# demos: the largest difference of a weight by step, and the change of a gradient by devices
FROM_ONE_DEVICE, APART = "from_one_device", "apart"
GRADIENT_CHANGE = "gradient_change"

# variants of training
IN_PLACE = "in place, copies (the book)"
REBINDING = "all-reduce rebinds"
ALIASING = "replicas without a copy"
MEANS = "mean of the shards' means"

# nets whose gradient is compared
WITH_BATCH_NORM, WITHOUT_BATCH_NORM = "ResNet-18, with batch norm", "LeNet, without"

# metrics
BATCH_NORM_CHANGE = "batch_norm_gradient_change_percent"


def millionths(variant: str, demo: str) -> str:
    """The metric of a variant's difference after the last step."""
    return f"{key(variant)}_{demo}_millionths"
