"""What the notes claim about what `parallelism` measures, and the rules that decide."""

from collections.abc import Callable

from lab.claims.evidence import Metric
from lab.claims.rules import FASTER, Estimate, Rule, point
from lab.claims.verdicts import Claim

KINDS = ("pipeline_2_devices", "tensor_parallel_2_devices")


def moved(replicas: float, *split: float) -> Estimate:
    """Return what the network that is split moves, by the better kind, over what replicas do."""
    return point(min(split) / replicas)


def held(replicas: float, *split: float) -> Estimate:
    """Return what replicas hold over what the network that is split does, by the better kind."""
    return point(replicas / min(split))


def against_replicas(estimate: Callable[..., Estimate], what: str) -> Rule:
    """Return the rule that compares two devices with replicas and with a network that is split over
    them.
    """
    reads = [
        Metric("parallelism", f"{kind}_{what}") for kind in ("data_parallel_2_devices", *KINDS)
    ]
    return Rule(reads, estimate, FASTER, "x as many MB")


def smaller_factor(*factors: float) -> Estimate:
    """Return the smallest of the factors between neighbours of an order."""
    return point(min(factors))


CLAIMS = (
    Claim(
        "G7a",
        "13.5",
        "001",
        "Splitting the batch makes devices exchange less than splitting the network.",
        (
            "LeNet, batch 256, two devices: bytes moved by a pipeline or by tensor parallelism,"
            " whichever moves"
            " less, over those of data parallelism."
        ),
        against_replicas(moved, "moved_mb"),
        "“Less”: more than 2 % between them. Bytes are counted, so there is no interval.",
    ),
    Claim(
        "G7b",
        "13.5",
        "001",
        "A network that is split takes less memory on each device than replicas of it.",
        "LeNet, batch 256, two devices: MB on the fullest device, data parallelism over the better"
        " split.",
        against_replicas(held, "device_mb"),
        "“Less”: more than 2 % between them. Parameters, gradients and activations are counted.",
    ),
    Claim(
        "G12a",
        "13.7",
        "001",
        "Inception computes most per parameter, then ResNet, then AlexNet.",
        (
            "The smaller of the two factors between neighbours in training FLOP per byte of"
            " parameters, the"
            " closest pair of each (GoogLeNet and Inception v3, ResNet-18 and -50)."
        ),
        Rule(
            [
                Metric("parallelism", f"ratio_{pair}")
                for pair in ("inception_over_resnet", "resnet_over_alexnet")
            ],
            smaller_factor,
            FASTER,
            "x the next one's",
        ),
        "An order: each more than 2 % over the next. Counted, on each network's own image size.",
    ),
)
