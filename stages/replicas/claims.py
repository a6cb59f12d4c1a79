"""What the notes claim about what `replicas` measures, and the rules that decide."""

from lab.claims.evidence import Metric
from lab.claims.rules import OF_GRADIENT, Rule, at_least, at_most, near, value
from lab.claims.verdicts import Claim

MILLIONTHS = "millionths, the most a weight differs"
ROUNDING_MILLIONTHS = 12  # a hundred roundings of a float32 around 1


def from_one_device(variant: str) -> Rule:
    """Return the rule that a variant's weights are those of training on one device, but for
    rounding.
    """
    return value(
        Metric("replicas", f"{variant}_from_one_device_millionths"),
        at_most(ROUNDING_MILLIONTHS),
        MILLIONTHS,
    )


def apart(variant: str) -> Rule:
    """Return the rule that replicas are equal to the bit."""
    return value(Metric("replicas", f"{variant}_apart_millionths"), near(0, 0), MILLIONTHS)


CLAIMS = (
    Claim(
        "D2b",
        "13.5",
        "000",
        "Batch norm must be adapted: over several devices it computes something else.",
        "Change of ResNet-18's gradient when a batch is split over two devices, relative to its"
        " length.",
        value(
            Metric("replicas", "resnet_18_with_batch_norm_gradient_change_percent"),
            at_least(1),
            OF_GRADIENT,
        ),
        "Without batch norm rounding changes about 0.00001 %: a whole percent is no rounding.",
    ),
    Claim(
        "D5",
        "13.5",
        "000, 004",
        "Moving the parameters to each device gives it parameters of its own.",
        "Weights after training replicas made without a copy, on CPU devices, against one device.",
        from_one_device("replicas_without_a_copy"),
        "A hundred roundings of a float32. Where the device is the parameters' own, moving copies"
        " nothing.",
    ),
    Claim(
        "D6a",
        "13.5",
        "000, 002, 004",
        "All-reduce in place adds up all gradients and gives the sum to every device.",
        "Largest difference between replicas' weights after training by hand.",
        apart("in_place_copies_the_book"),
        "Copies of one sum are equal to the bit.",
    ),
    Claim(
        "D6b",
        "13.5",
        "001",
        "Note 001's all-reduce, which assigns the sum to a list's entries, gives it to every"
        " device.",
        "Largest difference between replicas' weights after training with it.",
        apart("all_reduce_rebinds"),
        "Copies of one sum are equal to the bit.",
    ),
    Claim(
        "D12b",
        "13.5",
        "000, 002, 004",
        "The algorithm is the same on several devices.",
        "Weights after training by hand on two devices, with the all-reduce in place, against one"
        " device.",
        from_one_device("in_place_copies_the_book"),
        "A hundred roundings of a float32: sums in another order.",
    ),
    Claim(
        "D12c",
        "13.5",
        "001",
        "The algorithm is the same on several devices, with note 001's all-reduce.",
        "Weights after training by hand on two devices, with that all-reduce, against one device.",
        from_one_device("all_reduce_rebinds"),
        "A hundred roundings of a float32: sums in another order.",
    ),
    Claim(
        "G9",
        "13.7",
        "001",
        "A step on n devices with b images each is a step on one device with n · b.",
        "Weights after steps on two shards of uneven size, against the whole batches on one"
        " device.",
        from_one_device("in_place_copies_the_book"),
        "A hundred roundings of a float32: sums in another order.",
    ),
    Claim(
        "E3",
        "13.6",
        "000, 002, 003",
        "The four steps that do for LeNet do for ResNet-18: devices compute the gradient that one"
        " would.",
        "Change of ResNet-18's gradient when a batch is split over two devices, relative to its"
        " length.",
        value(
            Metric("replicas", "resnet_18_with_batch_norm_gradient_change_percent"),
            at_most(0.1),
            OF_GRADIENT,
        ),
        "Far more than rounding, which changes LeNet's by about 0.00001 %.",
    ),
)
