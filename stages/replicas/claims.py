"""What the notes claim about what `replicas` measures, and the rules that decide."""

from lab.claims.evidence import Metric
from lab.claims.rules import Range, Rule, at_least, at_most, near, value
from lab.claims.verdicts import Claim
from stages.replicas.names import (
    ALIASING,
    APART,
    BATCH_NORM_CHANGE,
    FROM_ONE_DEVICE,
    IN_PLACE,
    REBINDING,
    millionths,
)

MILLIONTHS = "millionths, the most a weight differs"
OF_GRADIENT = "% of the gradient"
ROUNDING_MILLIONTHS = 12  # a hundred roundings of a float32 around 1


def from_one_device(variant: str) -> Rule:
    """The rule that only rounding tells a variant's weights from those of one device."""
    metric = Metric("replicas", millionths(variant, FROM_ONE_DEVICE))
    return value(metric, at_most(ROUNDING_MILLIONTHS), MILLIONTHS)


def apart(variant: str) -> Rule:
    """The rule that a variant's replicas are equal to the bit."""
    return value(Metric("replicas", millionths(variant, APART)), near(0, 0), MILLIONTHS)


def batch_norm(holds: Range) -> Rule:
    """The rule on how much two devices change the gradient of a net with batch norm."""
    return value(Metric("replicas", BATCH_NORM_CHANGE), holds, OF_GRADIENT)


CLAIMS = (
    Claim(
        "D2b",
        "13.5",
        "000",
        "Batch norm must be adapted: over several devices it computes something else.",
        "Change of ResNet-18's gradient when a batch is split over two devices, relative to its"
        " length.",
        batch_norm(at_least(1)),
        "Without batch norm rounding changes about 0.00001 %: a whole percent is no rounding.",
    ),
    Claim(
        "D5",
        "13.5",
        "000, 004",
        "Moving the parameters to each device gives it parameters of its own.",
        "Weights after training replicas made without a copy, on CPU devices, against one device.",
        from_one_device(ALIASING),
        "A hundred roundings of a float32. Where the device is the parameters' own, moving copies"
        " nothing.",
    ),
    Claim(
        "D6a",
        "13.5",
        "000, 002, 004",
        "All-reduce in place adds up all gradients and gives the sum to every device.",
        "Largest difference between replicas' weights after training by hand.",
        apart(IN_PLACE),
        "Copies of one sum are equal to the bit.",
    ),
    Claim(
        "D6b",
        "13.5",
        "001",
        "Note 001's all-reduce, which assigns the sum to a list's entries, gives it to every"
        " device.",
        "Largest difference between replicas' weights after training with it.",
        apart(REBINDING),
        "Copies of one sum are equal to the bit.",
    ),
    Claim(
        "D12b",
        "13.5",
        "000, 002, 004",
        "The algorithm is the same on several devices.",
        "Weights after training by hand on two devices, with the all-reduce in place, against one"
        " device.",
        from_one_device(IN_PLACE),
        "A hundred roundings of a float32: sums in another order.",
    ),
    Claim(
        "D12c",
        "13.5",
        "001",
        "The algorithm is the same on several devices, with note 001's all-reduce.",
        "Weights after training by hand on two devices, with that all-reduce, against one device.",
        from_one_device(REBINDING),
        "A hundred roundings of a float32: sums in another order.",
    ),
    Claim(
        "G9",
        "13.7",
        "001",
        "A step on n devices with b images each is a step on one device with n · b.",
        "Weights after steps on two shards of uneven size, against the whole batches on one"
        " device.",
        from_one_device(IN_PLACE),
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
        batch_norm(at_most(0.1)),
        "Far more than rounding, which changes LeNet's by about 0.00001 %.",
    ),
)
