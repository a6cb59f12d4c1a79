"""What the notes claim about what `convergence` measures, and the rules that decide."""

from collections.abc import Sequence

from lab.claims.evidence import Column, Metric, NotTestableError
from lab.claims.needs import Need, real_images
from lab.claims.rules import (
    FASTER,
    NEEDED,
    NOTES_BATCH,
    POINTS,
    Estimate,
    Over,
    Range,
    Rule,
    at_least,
    at_most,
    difference,
    speedup,
    values,
)
from lab.claims.verdicts import Claim, Front, Kind
from lab.results.stats import POSITIVE, SMALLEST_EFFECT, median_interval, summarise
from stages.convergence.measure.names import FIXED, LARS, LENET, MOMENTUM, PLAIN, SCALED, STEMS

STAGE = "convergence"
SMALLEST, LARGE, VERY_LARGE = 64, 256, 4096  # images; LARGE: on four devices of SMALLEST each
STALE = 3  # steps: of four workers
OF_THE_EPOCHS = "% as many epochs"
FEWER = at_most(100 / (1 + SMALLEST_EFFECT))

real = real_images(STAGE)
at_very_large = (
    *real,
    Need(
        "batches of 4096 images",
        Metric(STAGE, "lenet_tuned_batch"),
        (VERY_LARGE,),
        "the profiles `study` and `full` train at them",
    ),
)
with_both_stems = (
    *real,
    Need(
        "training with both stems",
        Metric(STAGE, "stems"),
        (" ".join(STEMS),),
        "the profiles `study` and `full` train with them",
    ),
)


def share_of_epochs(
    few: Sequence[float],
    few_reached: Sequence[float],
    many: Sequence[float],
    many_reached: Sequence[float],
) -> Estimate:
    """The epochs of one variant's runs in percent of another's, by seed; median and interval.

    A run of the other variant that did not reach the target within the budget would have needed
    more, how much is not known: its share lies between 0 and that at the budget. The interval's
    lower end is that of the smallest shares, its upper end and the value are those of the largest.
    """
    missed = sum(1 - reached for reached in few_reached)
    if missed:
        raise NotTestableError(
            f"{missed:.0f} of {len(few)} runs that should need fewer epochs did not reach the"
            " target; raise its max_epochs in convergence"
        )
    largest = [100 * a / b for a, b in zip(few, many, strict=True)]
    smallest = [s if ended else 0.0 for s, ended in zip(largest, many_reached, strict=True)]
    low, high = median_interval(smallest, POSITIVE)[0], median_interval(largest, POSITIVE)[1]
    count = len(largest)
    return Estimate(summarise(largest).median, low, high, count, Over.SEEDS)


def epochs(variant: str, batch_size: int, net: str = LENET) -> list[Column]:
    """A variant's epochs by seed, and which runs reached the target."""
    return [
        values(STAGE, experiment, variant, net=net, batch_size=str(batch_size))
        for experiment in ("epochs", "reached")
    ]


def us_per_image(batch_size: int) -> Column:
    """The time of an image of the notes' size in LeNet's step."""
    return values(STAGE, "notes_us_per_image", PLAIN, batch_size=str(batch_size))


def after_short_run(staleness: int) -> Column:
    """LeNet's accuracy with gradients that are so many steps old, by seed."""
    return values(STAGE, "short_run", PLAIN, staleness=str(staleness))


def fewer_epochs(few: list[Column], many: list[Column], holds: Range = FEWER) -> Rule:
    """The rule that one variant needs fewer epochs than another."""
    return Rule([*few, *many], share_of_epochs, holds, OF_THE_EPOCHS)


CLAIMS = (
    Claim(
        "G11a",
        "13.7",
        Kind.SAID,
        "001:452",
        "At an unchanged learning rate, a larger batch, by more images on each worker or by more"
        " workers, takes more epochs to the same accuracy.",
        "Epochs to the target accuracy at batch 64 in percent of those at 256, with the same"
        " learning rate and the same seed; where the larger batch did not get there in time, at"
        " most that.",
        fewer_epochs(epochs(FIXED, SMALLEST), epochs(FIXED, LARGE)),
        "“More”: by over 2 %.",
        real,
        front=Front(
            12,
            "Larger batches cost no extra epochs here: at an unchanged learning "
            "rate, batches of 64 take {number}% of the epochs that batches of "
            "256 take.",
        ),
    ),
    Claim(
        "G11b",
        "13.7",
        Kind.SAID,
        "001:684",
        "With very large batches convergence becomes inefficient, which needs attention.",
        "Epochs to the target accuracy at batch 64 in percent of those at 4096, with momentum,"
        " each at the best learning rate that other seeds found.",
        fewer_epochs(
            epochs(MOMENTUM, SMALLEST), epochs(MOMENTUM, VERY_LARGE), at_most(100 / NEEDED)
        ),
        "“Inefficient”: a tenth more epochs, or more, although the learning rate is the best for"
        " that batch.",
        at_very_large,
    ),
    Claim(
        "D2a",
        "13.5",
        Kind.SAID,
        "000:261",
        "A batch that is enlarged for more devices may need a higher learning rate.",
        "Epochs to the target accuracy at batch 256 with four times the learning rate of batch"
        " 64, in percent of those with the same learning rate.",
        fewer_epochs(epochs(SCALED, LARGE), epochs(FIXED, LARGE)),
        "“Need”: the unchanged learning rate takes over 2 % longer.",
        real,
    ),
    Claim(
        "G12d",
        "13.7",
        Kind.SAID,
        "001:463",
        "A sufficiently large batch makes the system faster.",
        "Images per second of LeNet's training step on one device: at the notes' batch of 256"
        " relative to a batch of 16, measured alternately.",
        speedup(us_per_image(16), us_per_image(NOTES_BATCH), FASTER),
        "“Faster”: than the small batch by more than 2 %.",
    ),
    Claim(
        "G12k",
        "13.7",
        Kind.SAID,
        "001:464",
        "Large batches need an optimizer that suits them.",
        "Epochs to the target accuracy at batch 4096: LARS's in percent of those of SGD with"
        " momentum, each at the best learning rate that other seeds found.",
        fewer_epochs(epochs(LARS, VERY_LARGE), epochs(MOMENTUM, VERY_LARGE)),
        "“Suits”: fewer epochs by over 2 %.",
        at_very_large,
    ),
    Claim(
        "G13c",
        "13.7",
        Kind.ASKED,
        "001:685",
        "Gradients three steps old, as four asynchronous workers bring them, cost accuracy.",
        "Test accuracy after equally many images at batch 64, in percentage points: with fresh"
        " gradients minus with those three steps old.",
        difference(after_short_run(0), after_short_run(STALE), at_least(1), POINTS),
        "“Cost”: a point or more.",
        real,
    ),
    Claim(
        "E2b",
        "13.6",
        Kind.SAID,
        "000:445",
        "Small images need a smaller kernel, stride and padding at ResNet-18's start, and no"
        " max-pooling.",
        "Test accuracy after equally many images of 28 x 28 pixels, at the same learning rate and"
        " the same seed, in percentage points: with the notes' stem (a 3 x 3 convolution of stride"
        " 1) minus with the original one (a 7 x 7 convolution of stride 2, max-pooling of stride"
        " 2).",
        difference(
            values(STAGE, "by_stem", "small"),
            values(STAGE, "by_stem", "original"),
            at_least(1),
            POINTS,
        ),
        "“Need”: a point or more.",
        with_both_stems,
    ),
)
