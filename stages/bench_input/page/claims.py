"""What the notes claim about what `bench_input` measures, and the rules that decide."""

from collections.abc import Sequence

from lab.claims.evidence import Column, Metric, NotTestableError
from lab.claims.rules import (
    AS_LONG,
    FASTER,
    Estimate,
    Rule,
    arm,
    at_least,
    median,
    speedup,
    times_ratio,
)
from lab.claims.verdicts import Claim, Kind, Unmeasured
from lab.results.stats import SMALLEST_EFFECT
from stages.bench_input.measure import names
from stages.bench_input.measure.names import BOOK, LENET, NO_WORKERS, RESIDENT, WHOLE

STAGE = "bench_input"


def lenet_step(feed: str) -> Column:
    """The time of a whole LeNet step, one for each start."""
    return arm(STAGE, names.step(feed), names.part_of(LENET, WHOLE))


def idle_share(num_devices: float, evaluation: Sequence[float], step: Sequence[float]) -> Estimate:
    """The percent of an epoch for which the other devices wait while one evaluates.

    `evaluation` is an epoch's on that device, divided by the epoch's steps.
    """
    if num_devices < 2:
        raise NotTestableError("there is one device, so none waits for it")
    return median([100 * e / (s + e) for e, s in zip(evaluation, step, strict=True)])


def with_over_without(step: Sequence[float], more: Sequence[float]) -> Estimate:
    """A step and something that it would wait for, over the step."""
    return times_ratio([s + m for s, m in zip(step, more, strict=True)], step)


def share_of_calls(x: Sequence[float], steps: Sequence[float], calls: Sequence[float]) -> Estimate:
    """The percent of a step at the largest batch that its calls alone take."""
    largest = [step for at, step in zip(x, steps, strict=True) if at == max(x)]
    return median([100 * c / s for c, s in zip(calls, largest, strict=True)])


CLAIMS = (
    Claim(
        "D10",
        "13.5",
        Kind.SAID,
        "000:395",
        "Evaluating on one device, while the others idle, is rather inefficient.",
        "Share of a LeNet epoch for which the other devices wait for the evaluation, data"
        " resident: 10,000 images against the epoch's steps, both told from a part of them.",
        Rule(
            [
                Metric(STAGE, "num_devices"),
                arm(STAGE, names.EVALUATION, LENET),
                lenet_step(RESIDENT),
            ],
            idle_share,
            at_least(100 * SMALLEST_EFFECT),
            "% of the time",
        ),
        "“Inefficient”: more than the 2 % below which no difference counts.",
    ),
    Claim(
        "D12p",
        "13.5",
        Kind.SAID,
        "000:427",
        "The simple way of training LeNet on several devices suffers from a huge overhead of"
        " Python.",
        "Share of the notes' step (two shards, one after the other) that its calls take without"
        " their arithmetic: on one channel and one image a shard. On a processor that tests the"
        " mechanism: a GPU's kernels are shorter, and the share is larger there.",
        Rule(
            [
                *[arm(STAGE, names.PYTHON, names.STEP, column) for column in ("x", "value")],
                arm(STAGE, names.PYTHON, names.CALLS),
            ],
            share_of_calls,
            at_least(50),
            "% of the time",
        ),
        "“Huge”: half of a step or more. The share is an upper bound of Python's, since what the"
        " framework does around its kernels is in it.",
    ),
    Claim(
        "G12b",
        "13.7",
        Kind.SAID,
        "001:460",
        "Training needs its data read and preprocessed efficiently.",
        "LeNet's step with images read and preprocessed one by one, without workers that would"
        " take cores from it, over the step with resident images.",
        speedup(lenet_step(NO_WORKERS), lenet_step(RESIDENT), FASTER, AS_LONG),
        "“Needs”: the whole interval over 1.02.",
    ),
    Claim(
        "G12p",
        "13.7",
        Kind.SAID,
        "001:460",
        "Preprocessing has to be efficient, too, apart from reading.",
        "LeNet's step with resident images and the preprocessing of a batch (an image and a float"
        " tensor of each image's bytes), over the step alone.",
        Rule(
            [lenet_step(RESIDENT), arm(STAGE, names.PREPARATION, names.PREPROCESS)],
            with_over_without,
            FASTER,
            AS_LONG,
        ),
        "“Has to be”: the whole interval over 1.02.",
    ),
    Claim(
        "G12w",
        "13.7",
        Kind.ASKED,
        "000:399 001:460",
        "Four workers, as in the notes' loader, make a step faster than none.",
        "LeNet's step with the images read in the training process, over the step with four"
        " workers, which take cores from the network where there are few.",
        speedup(lenet_step(NO_WORKERS), lenet_step(BOOK), FASTER),
        "“Faster”: the whole interval over 1.02.",
    ),
)

UNMEASURED = (
    Unmeasured(
        "000:427",
        "The data set, too, is too small for two devices to be worthwhile.",
        "A step takes the same time however many an epoch has: only the start of the loader's"
        " workers weighs less in a longer epoch. It needs a larger data set on two GPUs.",
    ),
)
