"""What the notes claim about what `schedules` measures, and the rules that decide."""

from collections.abc import Sequence

from lab.claims.evidence import Column, Metric
from lab.claims.needs import Need, real_images
from lab.claims.rules import (
    FASTER,
    Estimate,
    Over,
    Rule,
    at_most,
    samples,
    speedup,
    times_ratio,
    values,
)
from lab.claims.verdicts import Claim, Kind
from lab.results.stats import PERCENT
from stages.schedules.measure.names import NO_WARM_UP, WARM_UP

STAGE = "schedules"
NOTES_WARM_UP = 25  # percent of a run: 5 of 20 epochs
AS_HIGH = "times as high a learning rate"
OF_THE_RUN = "% of the run"

real = real_images(STAGE)
with_resnet18 = (
    *real,
    Need(
        "training of ResNet-18",
        Metric(STAGE, "nets"),
        ("lenet resnet18",),
        "the profiles `study` and `full` train it",
    ),
)


def highest(net: str, variant: str) -> Column:
    """A net's highest stable rates, by seed."""
    return values(STAGE, "highest_stable_rate", variant, net=net)


def ratio_of_common_seeds(one: Sequence[float], other: Sequence[float]) -> Estimate:
    """The median of one[i] / other[i] over the seeds that both have."""
    common = min(len(one), len(other))
    return times_ratio(one[:common], other[:common], Over.SEEDS)


CLAIMS = (
    Claim(
        "F20a",
        "12.11",
        Kind.SAID,
        "001:326",
        "A high rate makes training diverge at its very start.",
        "How far into a run without warm-up LeNet collapses for good, in percent of the run, at"
        " the lowest rate that bisection found to diverge.",
        samples(
            values(STAGE, "divergence_onset", NO_WARM_UP, net="lenet"),
            at_most(NOTES_WARM_UP),
            OF_THE_RUN,
            Over.SEEDS,
            PERCENT,
        ),
        "“At the start”: within what the notes' warm-up covers, a quarter of the run.",
        real,
    ),
    Claim(
        "F20b",
        "12.11",
        Kind.SAID,
        "001:329",
        "Warm-up lets LeNet train at a higher rate without diverging.",
        "LeNet's highest rate that does not diverge, by bisection: with the notes' warm-up,"
        " relative to without.",
        speedup(
            highest("lenet", WARM_UP), highest("lenet", NO_WARM_UP), FASTER, AS_HIGH, Over.SEEDS
        ),
        "“Higher”: by more than 2 %.",
        real,
    ),
    Claim(
        "F20f",
        "12.11",
        Kind.ASKED,
        "001:326",
        "Without warm-up ResNet-18 diverges at lower rates than LeNet.",
        "Highest rate that does not diverge without warm-up, by bisection: LeNet's relative to"
        " ResNet-18's.",
        Rule(
            [highest("lenet", NO_WARM_UP), highest("resnet18", NO_WARM_UP)],
            ratio_of_common_seeds,
            FASTER,
            AS_HIGH,
        ),
        "“Especially”: it diverges at rates that the plain net bears, by more than 2 %.",
        with_resnet18,
    ),
    Claim(
        "F20g",
        "12.11",
        Kind.SAID,
        "001:326-329",
        "Warm-up lets an advanced design, ResNet-18, train at a higher rate without diverging.",
        "ResNet-18's highest rate that does not diverge, by bisection: with the notes' warm-up,"
        " relative to without.",
        speedup(
            highest("resnet18", WARM_UP),
            highest("resnet18", NO_WARM_UP),
            FASTER,
            AS_HIGH,
            Over.SEEDS,
        ),
        "“No longer”: higher rates by more than 2 %.",
        with_resnet18,
    ),
)
