"""What the notes claim about what `bench_async` measures, and the rules that decide."""

from collections.abc import Sequence

from lab.claims.evidence import Column, NotTestableError
from lab.claims.needs import on_gpu
from lab.claims.rules import (
    AS_LONG,
    FASTER,
    NEEDED,
    Estimate,
    Rule,
    at_least,
    at_most,
    median,
    point,
    ratio,
    times_ratio,
    values,
)
from lab.claims.verdicts import Claim, Kind, Unmeasured
from lab.results.stats import PERCENT, paired_ratios, summarise

RETURNS_BEFORE = 0.9  # of the time until the result is there: less is before its work is done
NOTES_PRODUCTS = 10  # timed together
OVER_SMALLEST = 2  # x as long as a product that is little but its launch: that is not launch-bound


def book(name: str) -> Column:
    """The times of ten products as the notes take them."""
    return values("bench_async", "book", name)


def other_causes(
    numpy: Sequence[float],
    torch: Sequence[float],
    fair_numpy: Sequence[float],
    fair_torch: Sequence[float],
) -> Estimate:
    """The notes' gap between numpy and torch over the gap of the same product, fairly timed."""
    return times_ratio(paired_ratios(numpy, torch), paired_ratios(fair_numpy, fair_torch))


def smallest(*shares: Sequence[float]) -> Estimate:
    """The smallest of several programs' numbers in each start."""
    return median([min(of_start) for of_start in zip(*shares, strict=True)], possible=PERCENT)


def order_kept(in_order: Sequence[float], unordered: Sequence[float]) -> Estimate:
    """The largest distance of the results in order from 3.

    Raises:
        NotTestableError: the control, which keeps no order, was right at times: then order decides
            nothing.
    """
    if any(z == 3 for z in unordered):
        raise NotTestableError("without an event the result was right, too: there was no race")
    return point(max(abs(z - 3) for z in in_order))


def finishing(
    waited: Sequence[float],
    not_waited: Sequence[float],
    products_ms: Sequence[float],
    rows: Sequence[float],
    product_us: Sequence[float],
) -> Estimate:
    """The notes' products waited for over not waited for, if there is anything to wait for.

    Raises:
        NotTestableError: a product is done by the time that the next one is launched.
    """
    launch_us = summarise(
        [us for at, us in zip(rows, product_us, strict=True) if at == min(rows)]
    ).median
    if 1e3 * summarise(products_ms).median < OVER_SMALLEST * NOTES_PRODUCTS * launch_us:
        raise NotTestableError(
            "the notes' product takes this GPU hardly longer than its launch; take a larger"
            " book_size"
        )
    return times_ratio(waited, not_waited)


CLAIMS = (
    Claim(
        "B1",
        "13.2",
        Kind.SAID,
        "000:159",
        "By the benchmark's output torch's matrix multiplications are several orders of"
        " magnitude faster than numpy's.",
        "numpy over torch as the notes time it, without waiting.",
        ratio("bench_async", "book_claims", at_least(100)),
        "“Several orders”: two at least.",
        on_gpu("bench_async"),
    ),
    Claim(
        "B1c",
        "13.2",
        Kind.SAID,
        "000:159",
        "The gap between numpy and torch also has causes other than the GPU that computes.",
        "The notes' gap relative to that of the same matrix multiplication in float32, its"
        " numbers drawn beforehand and its result waited for.",
        Rule(
            [
                book(name)
                for name in (
                    "numpy, float64",
                    "torch, not waited for",
                    "numpy, products alone",
                    "torch, products alone",
                )
            ],
            other_causes,
            at_least(NEEDED),
            "times the fair gap",
        ),
        "Other causes: they widen the gap by a tenth or more.",
        on_gpu("bench_async"),
    ),
    Claim(
        "B2",
        "13.2",
        Kind.SAID,
        "000:159",
        "A GPU's operations are asynchronous by default: forcing torch to finish shows it.",
        "Ten matrix multiplications, synchronized relative to not synchronized.",
        Rule(
            [
                *[
                    book(name)
                    for name in (
                        "torch, waited for",
                        "torch, not waited for",
                        "torch, products alone",
                    )
                ],
                *[
                    values("bench_async", "product", "result there", column)
                    for column in ("x", "value")
                ],
            ],
            finishing,
            FASTER,
            AS_LONG,
        ),
        "“Shows”: longer by more than 2 %.",
        on_gpu("bench_async"),
    ),
    Claim(
        "B3",
        "13.2",
        Kind.SAID,
        "000:159",
        "The back end computes while the front end has given control back to Python.",
        "Time until a matrix multiplication's call returns relative to the time until its result"
        " is there, at the largest size.",
        ratio("bench_async", "return_over_finish", at_most(RETURNS_BEFORE), "of the total time"),
        "“While”: at least a tenth of the time earlier.",
        on_gpu("bench_async"),
    ),
    Claim(
        "B3b",
        "13.2",
        Kind.SAID,
        "000:173",
        "A program's execution mainly happens in the back end, which is written in C++.",
        "The back end's share of the time of the notes' programs of this section, random matrix"
        " multiplications and x · y + 2 of two numbers, as torch's profiler sees it: the smaller"
        " one.",
        Rule(
            [values("bench_async", "back_end", name) for name in ("random product", "x * y + 2")],
            smallest,
            at_least(50),
            "% of a program's time",
        ),
        "“Mainly”: half of the time or more.",
    ),
    Claim(
        "B4",
        "13.2",
        Kind.SAID,
        "000:173",
        "The back end keeps to the dependencies between the steps of a computation.",
        "Largest distance of x · y + 2 from 3, computed right after x and y were asked to become"
        " ones; on a stream that waits for no event it must be wrong.",
        Rule(
            [
                values("bench_async", "dependencies", name)
                for name in ("one stream", "another stream, no event")
            ],
            order_kept,
            at_most(0),
            "away from 3",
        ),
        "Small integers are exact in float32.",
        on_gpu("bench_async"),
    ),
)

UNMEASURED = (
    Unmeasured(
        "000:134",
        "PyTorch's tensors are defined on a GPU.",
        "It holds where there is one: the notes' helper takes the processor without a word where"
        " there is none.",
    ),
    Unmeasured(
        "000:173",
        "The back end's threads keep collecting and executing queued operations.",
        "Nothing that torch shows tells which thread takes an operation from a queue.",
    ),
)
