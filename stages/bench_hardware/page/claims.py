"""What the notes claim about what `bench_hardware` measures, and the rules that decide."""

from collections.abc import Sequence

from lab.claims.evidence import Column, NotTestableError
from lab.claims.needs import on_gpu
from lab.claims.rules import (
    AS_FAST,
    AS_LONG,
    FASTER,
    NEEDED,
    Estimate,
    Range,
    Rule,
    at_least,
    speedup,
    times_ratio,
    values,
)
from lab.claims.verdicts import Claim, Front, Kind, Unmeasured

STAGE = "bench_hardware"
FIRST_CACHE, SECOND_CACHE = 4096.0, 262_144.0  # working sets that they hold, in bytes
MUCH = 2.0  # times


def times_at(
    least: float, most: float | None, x: Sequence[float], numbers: Sequence[float]
) -> Estimate:
    """Samples at x = `most`, by default the largest, over those at `least` of the same starts."""
    end = max(x) if most is None else most
    if least == end or least not in x or end not in x:
        raise NotTestableError(f"not measured at both {least:g} and {end:g}")
    few, many = ([n for at, n in zip(x, numbers, strict=True) if at == e] for e in (least, end))
    return times_ratio(many, few)


def second_over_first(x: Sequence[float], numbers: Sequence[float]) -> Estimate:
    """A load from the second cache over one from the first."""
    return times_at(FIRST_CACHE, SECOND_CACHE, x, numbers)


def memory_over_first(x: Sequence[float], numbers: Sequence[float]) -> Estimate:
    """A load from memory over one from the first cache."""
    return times_at(FIRST_CACHE, None, x, numbers)


def all_cores_over_one(x: Sequence[float], rates: Sequence[float]) -> Estimate:
    """The rate on all cores over that on one."""
    if max(x) == 1:
        raise NotTestableError("there is one core; it needs two")
    return times_at(1, None, x, rates)


def at_the_most(numbers: Sequence[float], x: Sequence[float]) -> list[float]:
    """The samples at the largest x."""
    return [n for at, n in zip(x, numbers, strict=True) if at == max(x)]


def over_the_most(
    numbers: Sequence[float], x: Sequence[float], others: Sequence[float]
) -> Estimate:
    """Samples over those of another series at its largest x, of the same starts."""
    return times_ratio(numbers, at_the_most(others, x))


def the_most_over(
    x: Sequence[float], numbers: Sequence[float], others: Sequence[float]
) -> Estimate:
    """A series' samples at its largest x over those of another variant, of the same starts."""
    return times_ratio(at_the_most(numbers, x), others)


def both_columns(experiment: str, name: str, **more: str) -> list[Column]:
    """The reads of a variant's x and values."""
    return [values(STAGE, experiment, name, column, **more) for column in ("x", "value")]


OVER_2_PERCENT = "“Faster”: the whole interval over 1.02."

CLAIMS = (
    Claim(
        "G1a",
        "13.4",
        Kind.SAID,
        "001:346",
        "The second cache takes 14 times as long to answer as the first (slide).",
        "Time of a load that waits for the one before, in 256 KiB over in 4 KiB.",
        Rule(both_columns("latency", "dependent loads"), second_over_first, Range(7, 28), AS_LONG),
        "Half to twice the slide's factor, which is of no named processor.",
        front=Front(
            20,
            "The second cache does not take 14 times as long to answer as the "
            "first, as the notes' slide says, but {number} times.",
        ),
    ),
    Claim(
        "G1b",
        "13.4",
        Kind.SAID,
        "001:346",
        "Main memory takes 200 times as long to answer as the first cache (slide).",
        "Time of a load that waits for the one before, in the largest working set over in 4 KiB.",
        Rule(
            both_columns("latency", "dependent loads"), memory_over_first, Range(100, 400), AS_LONG
        ),
        "Half to twice the slide's factor, which is of no named processor.",
    ),
    Claim(
        "G2a",
        "13.4",
        Kind.SAID,
        "001:344-346",
        "Data read in their order can be fetched ahead, which raises a processor's utilisation"
        " (slide).",
        "Loads from the largest working set, in random order over in order.",
        Rule(
            [
                *both_columns("latency", "dependent loads"),
                values(STAGE, "latency", "loads in order"),
            ],
            the_most_over,
            FASTER,
            AS_LONG,
        ),
        "“Raises”: the whole interval over 1.02.",
    ),
    Claim(
        "G2b",
        "13.4",
        Kind.SAID,
        "001:344-346",
        "Data that are used again soon stay in the cache, which raises a processor's utilisation"
        " (slide).",
        "Going 8 times over data larger than the caches: over all of them each time, over 8 times"
        " over each block of 128 KiB.",
        speedup(
            values(STAGE, "reuse", "8 times all blocks"),
            values(STAGE, "reuse", "each block 8 times"),
            FASTER,
            AS_LONG,
        ),
        "“Raises”: the whole interval over 1.02.",
    ),
    Claim(
        "G2d",
        "13.4",
        Kind.ASKED,
        "001:349",
        "A matrix stored by columns is read faster column by column than row by row.",
        "Sum of a matrix stored column after column: by rows over by columns.",
        speedup(
            values(STAGE, "order", "row by row, stored by columns"),
            values(STAGE, "order", "column by column, stored by columns"),
            FASTER,
        ),
        OVER_2_PERCENT,
    ),
    Claim(
        "G3b",
        "13.4",
        Kind.SAID,
        "001:350",
        "Adding two vectors number by number in a Python loop is slower than in one call (slide).",
        "10,000 numbers: the loop over the call.",
        speedup(
            values(STAGE, "adding", "Python loop"), values(STAGE, "adding", "one call"), FASTER
        ),
        OVER_2_PERCENT,
    ),
    Claim(
        "G3c",
        "13.4",
        Kind.SAID,
        "001:350",
        "Adding two vectors in one call is easily spread over cores (slide).",
        "A million numbers: rate on all cores over one.",
        Rule(
            both_columns("vector rate", "one call", device_kind="cpu"),
            all_cores_over_one,
            FASTER,
            AS_FAST,
        ),
        OVER_2_PERCENT,
    ),
    Claim(
        "G4b",
        "13.4",
        Kind.SAID,
        "001:357-359",
        "A GPU's memory has more bandwidth than the processor's.",
        "Bandwidth of copies on the GPU relative to copies by all CPU cores, alternating.",
        Rule(
            [
                values(STAGE, "bandwidth", "copy", device_kind="cuda*"),
                *both_columns("bandwidth", "copy", device_kind="cpu"),
            ],
            over_the_most,
            FASTER,
            "times the bandwidth",
        ),
        "“More”: the whole interval over 1.02.",
        on_gpu(STAGE),
    ),
    Claim(
        "G4d",
        "13.4",
        Kind.SAID,
        "001:363",
        "A GPU suits computations that can be made parallel on a large scale (slide).",
        "Rate of large float32 matrix multiplications on the GPU relative to all CPU cores,"
        " alternating.",
        Rule(
            [
                values(STAGE, "peak", "float32", device_kind="cuda*"),
                *both_columns("peak", "float32", device_kind="cpu"),
            ],
            over_the_most,
            FASTER,
            AS_FAST,
        ),
        OVER_2_PERCENT,
        on_gpu(STAGE),
    ),
    Claim(
        "G5a",
        "13.4",
        Kind.SAID,
        "001:365",
        "Work is not to jump back and forth between processor and GPU.",
        "Ten matrix multiplications in a row: with each result sent to the CPU and back, relative"
        " to all on the GPU.",
        speedup(
            values(STAGE, "transfers", "products by way of the processor"),
            values(STAGE, "transfers", "products on the GPU"),
            at_least(NEEDED),
            AS_LONG,
        ),
        "“Not to”: jumping takes a tenth longer, or more.",
        on_gpu(STAGE),
    ),
    Claim(
        "E2a",
        "13.6",
        Kind.ASKED,
        "000:445",
        "The notes' small stem makes a pass of ResNet-18 over 28 x 28 images much longer.",
        "A forward pass that begins with a 3 x 3 convolution of stride 1, as in the notes, relative"
        " to one that begins with the original stem, a 7 x 7 convolution of stride 2 and"
        " max-pooling of stride 2; alternating.",
        speedup(
            values(STAGE, "stem", "the notes' small stem"),
            values(STAGE, "stem", "the original stem"),
            at_least(MUCH),
            AS_LONG,
        ),
        "“Much”: at least twice as long. Counted, it computes 14 times as much.",
    ),
)

UNMEASURED = (
    Unmeasured(
        "001:362",
        "Compilers for processors and for Nvidia's GPUs are mature; on other GPUs OpenCL is as good"
        " as its vendor makes it (slide).",
        "A judgement of products; there is no other vendor's GPU to try.",
    ),
    Unmeasured(
        "001:367-380",
        "There are other processors: a phone's chip with many of them, signal processors,"
        " programmable arrays, and chips for neural networks alone.",
        "PyTorch runs on none of them here, so nothing of theirs can be timed.",
    ),
)
