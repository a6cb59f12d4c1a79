"""What the notes claim about what `bench_hardware` measures, and the rules that decide."""

from collections.abc import Sequence

from lab.claims.evidence import NotTestableError
from lab.claims.needs import on_gpu
from lab.claims.rules import (
    AS_FAST,
    AS_LONG,
    FASTER,
    Estimate,
    Rule,
    arm,
    at_least,
    ratio,
    speedup,
    times_ratio,
)
from lab.claims.verdicts import Claim
from stages.bench_hardware import names


def most_over_least(x: Sequence[float], numbers: Sequence[float]) -> Estimate:
    """The samples at the largest x over those at the smallest."""
    if min(x) == max(x):
        raise NotTestableError(
            "measured at one setting only, so there is nothing to compare; it needs two cores"
        )
    least, most = (
        [n for at, n in zip(x, numbers, strict=True) if at == end] for end in (min(x), max(x))
    )
    return times_ratio(most, least)


def over_the_most(
    numbers: Sequence[float], x: Sequence[float], others: Sequence[float]
) -> Estimate:
    """Samples over those of another series at its largest x."""
    return times_ratio(numbers, [n for at, n in zip(x, others, strict=True) if at == max(x)])


CLAIMS = (
    Claim(
        "G1",
        "13.4",
        "001",
        "A cache answers far sooner than memory.",
        "Time of a dependent load in the largest working set over that in the smallest.",
        Rule(
            [
                arm("bench_hardware", names.LATENCY, "*", "x"),
                arm("bench_hardware", names.LATENCY, "*"),
            ],
            most_over_least,
            at_least(10),
            AS_LONG,
        ),
        "“Far”: an order of magnitude.",
    ),
    Claim(
        "G2",
        "13.4",
        "001",
        "Reading memory in its order raises a processor's utilisation.",
        "Sum of a matrix by columns over by rows.",
        ratio("bench_hardware", names.ROWS_OVER_COLUMNS, FASTER),
        "“Raises”: the whole interval over 1.02.",
    ),
    Claim(
        "G3",
        "13.4",
        "001",
        "Several cores compute faster than one.",
        "Rate of float32 products on all cores over one.",
        Rule(
            [
                arm("bench_hardware", names.PEAK, names.FLOAT32, column, device_kind="cpu")
                for column in ("x", "value")
            ],
            most_over_least,
            FASTER,
            AS_FAST,
        ),
        "“Faster”: the whole interval over 1.02.",
    ),
    Claim(
        "G4a",
        "13.4",
        "001",
        "A GPU computes faster than the processor beside it.",
        "Rate of float32 products on the GPU over all of the processor's cores.",
        Rule(
            [
                arm("bench_hardware", names.PEAK, names.FLOAT32, device_kind="cuda*"),
                *[
                    arm("bench_hardware", names.PEAK, names.FLOAT32, column, device_kind="cpu")
                    for column in ("x", "value")
                ],
            ],
            over_the_most,
            FASTER,
            AS_FAST,
        ),
        "“Faster”: the whole interval over 1.02.",
        on_gpu("bench_hardware"),
    ),
    Claim(
        "G4b",
        "13.4",
        "001",
        "A GPU's memory has more bandwidth than the processor's.",
        "Copies on the GPU over copies by all of the processor's cores, in GB/s.",
        Rule(
            [
                arm("bench_hardware", names.BANDWIDTH, names.COPY, device_kind="cuda*"),
                *[
                    arm("bench_hardware", names.BANDWIDTH, names.COPY, column, device_kind="cpu")
                    for column in ("x", "value")
                ],
            ],
            over_the_most,
            FASTER,
            "x the bandwidth",
        ),
        "“More”: the whole interval over 1.02.",
        on_gpu("bench_hardware"),
    ),
    Claim(
        "G5",
        "13.4",
        "001",
        "Going back and forth between processor and GPU is to be avoided.",
        "A number to the GPU and back, over launching a kernel.",
        speedup(
            arm("bench_hardware", names.TRIP, names.THERE_AND_BACK),
            arm("bench_hardware", names.TRIP, names.LAUNCH),
            FASTER,
            AS_LONG,
        ),
        "“To be avoided”: a trip costs more than the operation it is for.",
        on_gpu("bench_hardware"),
    ),
)
