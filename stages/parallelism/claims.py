"""What the notes claim about what `parallelism` measures, and the rules that decide."""

from collections.abc import Callable, Sequence

from lab.claims.evidence import Column, Metric
from lab.claims.rules import FASTER, NOTES_BATCH, Estimate, Rule, point
from lab.claims.verdicts import Claim
from stages.parallelism.names import (
    DATA,
    HELD_MB,
    INCEPTION_OVER_RESNET,
    MOVED_MB,
    PIPELINE,
    RESNET_OVER_ALEXNET,
    TENSOR,
    on_devices,
)


def moved(replicas: Sequence[float], *split: Sequence[float]) -> Estimate:
    """What the better way to split the network moves, over what replicas do."""
    return point(min(mb for [mb] in split) / replicas[0])


def held(replicas: Sequence[float], *split: Sequence[float]) -> Estimate:
    """What replicas hold, over what the better way to split the network does."""
    return point(replicas[0] / min(mb for [mb] in split))


def against_replicas(estimate: Callable[..., Estimate], demo: str) -> Rule:
    """The rule that compares replicas on two devices with a network that is split over them."""
    reads = [
        Column(
            "parallelism",
            "y",
            {"demo": demo, "series": on_devices(kind, 2), "x": f"{NOTES_BATCH}.0"},
        )
        for kind in (DATA, PIPELINE, TENSOR)
    ]
    return Rule(reads, estimate, FASTER, "x as many MB")


def smaller_factor(*factors: float) -> Estimate:
    """The smallest of the factors between neighbours of an order."""
    return point(min(factors))


CLAIMS = (
    Claim(
        "G7a",
        "13.5",
        "001",
        "Splitting the batch makes devices exchange less than splitting the network.",
        (
            "LeNet, batch 256, two devices: bytes moved by a pipeline or by tensor parallelism,"
            " whichever moves less, over those of data parallelism."
        ),
        against_replicas(moved, MOVED_MB),
        "“Less”: more than 2 % between them. Bytes are counted, so there is no interval.",
    ),
    Claim(
        "G7b",
        "13.5",
        "001",
        "A network that is split takes less memory on each device than replicas of it.",
        "LeNet, batch 256, two devices: MB on the fullest device, data parallelism over the better"
        " split.",
        against_replicas(held, HELD_MB),
        "“Less”: more than 2 % between them. Parameters, gradients and activations are counted.",
    ),
    Claim(
        "G12a",
        "13.7",
        "001",
        "Inception computes most per parameter, then ResNet, then AlexNet.",
        (
            "The smaller of the two factors between neighbours in training FLOP per byte of"
            " parameters, the closest pair of each (GoogLeNet and Inception v3, ResNet-18 and"
            " -50)."
        ),
        Rule(
            [Metric("parallelism", name) for name in (INCEPTION_OVER_RESNET, RESNET_OVER_ALEXNET)],
            smaller_factor,
            FASTER,
            "x the next one's",
        ),
        "An order: each more than 2 % over the next. Counted, on each network's own image size.",
    ),
)
