"""What the notes claim about what `bench_input` measures, and the rules that decide."""

from collections.abc import Sequence

from lab.claims.evidence import Column
from lab.claims.needs import on_two_gpus
from lab.claims.rules import AS_LONG, NEEDED, Estimate, Rule, at_least, median, speedup, values
from lab.claims.verdicts import Claim, Front, Kind, Unmeasured
from stages.bench_input.measure.names import NO_WORKERS, RESIDENT, WHOLE

STAGE = "bench_input"


def lenet_step(feed: str) -> Column:
    """The time of a whole LeNet step, one for each start."""
    return values(STAGE, "step", feed, net="lenet", part=WHOLE)


def share_of_calls(x: Sequence[float], steps: Sequence[float], calls: Sequence[float]) -> Estimate:
    """The percent of a step at the largest batch that its calls alone take."""
    largest = [step for at, step in zip(x, steps, strict=True) if at == max(x)]
    return median([100 * c / s for c, s in zip(calls, largest, strict=True)])


CLAIMS = (
    Claim(
        "D12p",
        "13.5",
        Kind.SAID,
        "000:427",
        "The simple way of training LeNet on two GPUs suffers from a huge overhead of Python and"
        " the framework.",
        "Share of the notes' step (two shards, sequentially) that its calls take without"
        " their arithmetic: on one channel and one image a shard.",
        Rule(
            [
                *[values(STAGE, "python", "step", column) for column in ("x", "value")],
                values(STAGE, "python", "its calls alone"),
            ],
            share_of_calls,
            at_least(50),
            "% of the time",
        ),
        "“Huge”: half of a step or more. What the framework does around its kernels is also in it.",
        on_two_gpus(STAGE),
    ),
    Claim(
        "G12b",
        "13.7",
        Kind.SAID,
        "001:460",
        "Training needs its data read and preprocessed efficiently.",
        "LeNet's step with images read and preprocessed one by one, without workers that would take"
        " cores from it, over the step with resident images.",
        speedup(lenet_step(NO_WORKERS), lenet_step(RESIDENT), at_least(NEEDED), AS_LONG),
        "“Needs”: images read one by one make a step take a tenth longer, or more.",
        front=Front(
            14,
            "Reading images one by one hardly slows LeNet's training down: a "
            "step takes {number}× as long as with the images in memory.",
        ),
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
