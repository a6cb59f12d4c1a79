"""What measuring, claims and the page of `replicas` call the same."""

# variants of training
IN_PLACE = "in place, copies (the book)"
REBINDING = "all-reduce rebinds"
ALIASING = "replicas without a copy"
MEANS = "mean of the shards' means"
ONE_DEVICE = "one device"

# nets whose gradient is compared
WITH_BATCH_NORM, WITHOUT_BATCH_NORM = "ResNet-18, with batch norm", "LeNet, without"

_KEYS = {
    IN_PLACE: "in_place_copies_the_book",
    REBINDING: "all_reduce_rebinds",
    ALIASING: "replicas_without_a_copy",
}


def millionths(variant: str, experiment: str) -> str:
    """The metric of a variant's difference after the last step."""
    return f"{_KEYS[variant]}_{experiment}_millionths"
