"""What the notes claim about what `schedules` measures, and the rules that decide."""

from collections.abc import Sequence
from functools import partial

from lab.claims.evidence import Column, Metric
from lab.claims.needs import Need, real_images
from lab.claims.rules import (
    FASTER,
    POINTS,
    Estimate,
    Over,
    Rule,
    at_least,
    at_most,
    difference,
    samples,
    series,
    speedup,
    times_ratio,
)
from lab.claims.verdicts import Claim, Kind
from stages.schedules.measure import names
from stages.schedules.measure.names import LENET, NO_WARM_UP, RESNET18, WARM_UP

STAGE = "schedules"
ONE_TEST_IMAGE = 100 / names.TEST_IMAGES  # in percentage points
NOTES_WARM_UP = 25  # percent of a run: 5 of 20 epochs
AS_HIGH, AS_LARGE = "times as high a learning rate", "times as large a loss"
LENGTH, OF_THE_RUN = "times the step length", "% of the run"

real = real_images(STAGE)
with_resnet18 = (
    *real,
    Need(
        "training of ResNet-18",
        Metric(STAGE, names.NETS),
        (f"{LENET} {RESNET18}",),
        "the profiles `study` and `full` train it",
    ),
)
of = partial(series, STAGE)


def highest(net: str, arm: str) -> Column:
    """A net's highest stable rates, by seed."""
    return of(names.STABLE_RATE, names.arm_of(net, arm))


def ratio_of_common_seeds(one: Sequence[float], other: Sequence[float]) -> Estimate:
    """The median of one[i] / other[i] over the seeds that both have."""
    common = min(len(one), len(other))
    return times_ratio(one[:common], other[:common], Over.SEEDS)


CLAIMS = (
    Claim(
        "F18s",
        "12.10",
        Kind.SAID,
        "001:281",
        "The explicit rate of Adam controls how long its steps are.",
        "Mean length of Adam's first 20 steps on LeNet at the notes' rate 0.01, over that at a"
        " tenth of it.",
        speedup(
            of(names.ADAM_STEP, names.TENFOLD),
            of(names.ADAM_STEP, names.ADAM_RATE),
            FASTER,
            LENGTH,
            Over.SEEDS,
        ),
        "“Controls”: a higher rate makes longer steps, by more than 2 %; the note does not say by"
        " how much.",
        real,
    ),
    Claim(
        "F20a",
        "12.11",
        Kind.SAID,
        "001:326",
        "A high rate makes training diverge at its very start.",
        "Percent of a run of LeNet without warm-up before it has learned nothing any more, at the"
        " lowest rate that bisection found to diverge.",
        samples(
            of(names.ONSET, names.arm_of(LENET, NO_WARM_UP)),
            at_most(NOTES_WARM_UP),
            OF_THE_RUN,
            Over.SEEDS,
        ),
        "“At the start”: within what the notes' warm-up covers, a quarter of the run.",
        real,
    ),
    Claim(
        "F20b",
        "12.11",
        Kind.SAID,
        "001:329",
        "Warm-up, a rise to the large rate that then cools down, keeps a high rate from diverging.",
        "LeNet's highest rate that does not diverge, by bisection: with the notes' warm-up over"
        " without.",
        speedup(highest(LENET, WARM_UP), highest(LENET, NO_WARM_UP), FASTER, AS_HIGH, Over.SEEDS),
        "“Keeps from”: higher rates by more than 2 %.",
        real,
    ),
    Claim(
        "F20c",
        "12.11",
        Kind.ASKED,
        "001:329-331",
        "LeNet ends at a higher accuracy if the notes' warm-up precedes the cosine.",
        "Difference of the test accuracies at base rate 0.3, with warm-up less without.",
        difference(
            of(names.ACCURACY, names.COSINE_WARM_UP),
            of(names.ACCURACY, names.COSINE),
            at_least(ONE_TEST_IMAGE),
            POINTS,
        ),
        "“Higher”: at least one test image of 2000.",
        real,
    ),
    Claim(
        "F20d",
        "12.11",
        Kind.SAID,
        "001:326",
        "A rate small enough not to diverge at the start makes progress too slow.",
        "Training loss at the end of a run of LeNet, at half the highest stable rate of another"
        " seed: without warm-up over with it.",
        speedup(
            of(names.PROGRESS, names.arm_of(LENET, NO_WARM_UP)),
            of(names.PROGRESS, names.arm_of(LENET, WARM_UP)),
            FASTER,
            AS_LARGE,
            Over.SEEDS,
        ),
        "“Too slow”: a loss larger by more than 2 % than at the rate that warm-up allows.",
        real,
    ),
    Claim(
        "F20e",
        "12.11",
        Kind.SAID,
        "001:324",
        "In some cases the initial weights do not lead to a good solution.",
        "Test accuracy of LeNet after the same steps at the notes' rate: from weights scaled by"
        " their fan-in, less from the notes' weights.",
        difference(
            of(names.START_ACCURACY, names.SCALED),
            of(names.START_ACCURACY, names.NOTES_START),
            at_least(1),
            POINTS,
        ),
        "“Some cases”: one is enough, the notes' own net within these steps. “Not good”: worse by a"
        " point or more.",
        real,
    ),
    Claim(
        "F20f",
        "12.11",
        Kind.SAID,
        "001:326",
        "With some advanced network designs optimisation is especially prone to be unstable.",
        "Highest rate that does not diverge without warm-up, by bisection: LeNet's over"
        " ResNet-18's.",
        Rule(
            [highest(LENET, NO_WARM_UP), highest(RESNET18, NO_WARM_UP)],
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
        "Warm-up resolves the dilemma of an advanced design: a high rate no longer diverges.",
        "ResNet-18's highest rate that does not diverge, by bisection: with the notes' warm-up"
        " over without.",
        speedup(
            highest(RESNET18, WARM_UP), highest(RESNET18, NO_WARM_UP), FASTER, AS_HIGH, Over.SEEDS
        ),
        "“No longer”: higher rates by more than 2 %.",
        with_resnet18,
    ),
    Claim(
        "F20h",
        "12.11",
        Kind.SAID,
        "001:326",
        "A high rate makes an advanced design diverge at its very start.",
        "Percent of a run of ResNet-18 without warm-up before it has learned nothing any more, at"
        " the lowest rate that bisection found to diverge.",
        samples(
            of(names.ONSET, names.arm_of(RESNET18, NO_WARM_UP)),
            at_most(NOTES_WARM_UP),
            OF_THE_RUN,
            Over.SEEDS,
        ),
        "“At the start”: within what the notes' warm-up covers, a quarter of the run.",
        with_resnet18,
    ),
)
