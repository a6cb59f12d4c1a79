"""What the notes claim about what `bench_input` measures, and the rules that decide."""

from collections.abc import Sequence

from lab.claims.evidence import Column, Metric, NotTestableError
from lab.claims.needs import on_two_gpus
from lab.claims.rules import AS_LONG, FASTER, Estimate, Rule, at_least, median, times_ratio
from lab.claims.verdicts import Claim
from lab.results.stats import SMALLEST_EFFECT

PARTS = (
    "load",
    "transfer",
    "forward",
    "backward",
    "all-reduce",
    "update",
)  # as stages.bench_input.step_parts, which needs torch
BOOK, RESIDENT = "the book's loader", "resident bytes"  # as lab.data.loaders, which needs torch


def part(net: str, name: str, way: str = RESIDENT) -> Column:
    """Return the read of a part of a training step, one number a step."""
    return Column("bench_input", "value", {"demo": f"step, {way}", "arm": f"{net}: {name}"})


def step_over_step(*parts: Sequence[float]) -> Estimate:
    """Return the time of one way's steps over another's, each given by its PARTS."""
    old, new = (
        [sum(each) for each in zip(*half, strict=True)]
        for half in (parts[: len(PARTS)], parts[len(PARTS) :])
    )
    return times_ratio(old, new)


def idle_share(
    num_devices: float, evaluation: Sequence[float], *parts: Sequence[float]
) -> Estimate:
    """Return the percent of an epoch for which the other devices wait while one evaluates.

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
    """Return the time of forward and backward passes over that of the all-reduce."""
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
                Column("bench_input", "value", {"demo": "evaluation", "arm": "LeNet"}),
                *[part("LeNet", name) for name in PARTS],
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
            [part("LeNet", name, way) for way in (BOOK, RESIDENT) for name in PARTS],
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
            [part("ResNet-18", name) for name in ("forward", "backward", "all-reduce")],
            compute_over_sync,
            at_least(10),
            AS_LONG,
        ),
        "“Far”: an order of magnitude.",
        on_two_gpus("bench_input"),
    ),
)
