"""What the notes claim about what `bench_input` measures, and the rules that decide."""

from collections.abc import Sequence

from lab.claims.evidence import Column, Metric, NotTestableError
from lab.claims.needs import on_two_gpus
from lab.claims.rules import AS_LONG, FASTER, Estimate, Rule, arm, at_least, median, times_ratio
from lab.claims.verdicts import Claim
from lab.results.stats import SMALLEST_EFFECT
from stages.bench_input import names
from stages.bench_input.names import BOOK, LENET, PARTS, RESIDENT, RESNET


def part(net: str, name: str, feed: str = RESIDENT) -> Column:
    """The times of a part of a training step, one a step."""
    return arm("bench_input", names.step(feed), names.part_of(net, name))


def step_over_step(*parts: Sequence[float]) -> Estimate:
    """The time of one feed's steps over another's, each given by its PARTS."""
    old, new = (
        [sum(each) for each in zip(*half, strict=True)]
        for half in (parts[: len(PARTS)], parts[len(PARTS) :])
    )
    return times_ratio(old, new)


def idle_share(
    num_devices: float, evaluation: Sequence[float], *parts: Sequence[float]
) -> Estimate:
    """The percent of an epoch for which the other devices wait while one evaluates.

    `evaluation` is that on all devices, per training step; on one of them it takes `num_devices`
    times as long.
    """
    if num_devices < 2:
        raise NotTestableError("there is one device, so none waits for it")
    steps = [sum(each) for each in zip(*parts, strict=True)]
    alone = [num_devices * t for t in evaluation]
    return median([100 * e / (step + e) for step, e in zip(steps, alone, strict=True)])


def compute_over_sync(
    forward: Sequence[float], backward: Sequence[float], sync: Sequence[float]
) -> Estimate:
    """The time of forward and backward passes over that of the all-reduce."""
    return times_ratio([f + b for f, b in zip(forward, backward, strict=True)], sync)


CLAIMS = (
    Claim(
        "D10",
        "13.5",
        "000",
        "Evaluating on one device is inefficient.",
        "Share of a LeNet epoch for which the other devices wait for the evaluation, data"
        " resident.",
        Rule(
            [
                Metric("bench_input", "num_devices"),
                arm("bench_input", names.EVALUATION, LENET),
                *[part(LENET, name) for name in PARTS],
            ],
            idle_share,
            at_least(100 * SMALLEST_EFFECT),
            "% of the time",
        ),
        "“Inefficient”: more than the 2 % below which no difference counts.",
    ),
    Claim(
        "G12b",
        "13.7",
        "001",
        "Loading data efficiently matters for training.",
        "LeNet's step with the notes' loader over the step with resident images.",
        Rule(
            [part(LENET, name, feed) for feed in (BOOK, RESIDENT) for name in PARTS],
            step_over_step,
            FASTER,
            AS_LONG,
        ),
        "“Matters”: the whole interval over 1.02.",
    ),
    Claim(
        "E5c",
        "13.6",
        "000, 002",
        "ResNet-18 computes far longer than it synchronises.",
        "Forward and backward passes over the all-reduce, in a step on two GPUs.",
        Rule(
            [part(RESNET, name) for name in (names.FORWARD, names.BACKWARD, names.ALL_REDUCE)],
            compute_over_sync,
            at_least(10),
            AS_LONG,
        ),
        "“Far”: an order of magnitude.",
        on_two_gpus("bench_input"),
    ),
)
