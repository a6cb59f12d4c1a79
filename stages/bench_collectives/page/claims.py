"""What the notes claim about what `bench_collectives` measures, and the rules that decide."""

from collections.abc import Sequence

from lab.claims.evidence import Column
from lab.claims.needs import on_own_devices
from lab.claims.rules import FASTER, Estimate, Rule, arm, at_least, median, speedup
from lab.claims.verdicts import Claim, Kind
from lab.parallel.cost_model import LIBRARY, ONE_BUCKET, PER_TENSOR, STAR, allreduce_name
from stages.bench_collectives.measure import names

STAGE = "bench_collectives"
ONE_NUMBER = Column(
    STAGE, "value", {"demo": names.of_one_message(2), "arm": LIBRARY, "x": "4.0"}
)  # of 4 bytes, summed between two devices
RESNET18 = names.of_ranks("resnet18", 2)
ALL_GRADIENTS = arm(STAGE, RESNET18, allreduce_name(LIBRARY, ONE_BUCKET))
BY_NOTES = arm(STAGE, RESNET18, allreduce_name(STAR, PER_TENSOR))


def share_of_bytes(network: Sequence[float], number: Sequence[float]) -> Estimate:
    """The share of a network's sum, in percent, that the sum of one number does not take."""
    return median([100 * (a - b) / a for a, b in zip(network, number, strict=True)])


CLAIMS = (
    Claim(
        "E3b",
        "13.6",
        Kind.SAID,
        "000:435",
        "Optimising the tools that synchronise is worth it for high performance.",
        "ResNet-18's gradients summed in the notes' way over torch's own all-reduce of one bucket,"
        " between two processes, each with a device.",
        speedup(BY_NOTES, ALL_GRADIENTS, FASTER),
        "“High performance”: the whole interval over 1.02.",
        on_own_devices("bench_collectives"),
    ),
    Claim(
        "G12g",
        "13.7",
        Kind.SAID,
        "001:459",
        "Training on several devices needs good bandwidth between them.",
        "Share of the time to sum ResNet-18's gradients in one bucket between two processes that"
        " summing one number does not take: what bytes cost, not messages.",
        Rule(
            [ALL_GRADIENTS, ONE_NUMBER], share_of_bytes, at_least(50), "% of the time due to bytes"
        ),
        "More of it goes with the bytes than with a message's latency.",
        on_own_devices("bench_collectives"),
    ),
)
