"""The numbers derived from bench_async's rows."""

import numpy as np

from lab.results.findings import (
    AS_LONG,
    Finding,
    Over,
    Samples,
    combine,
    difference,
    exact,
    median,
    missing,
    ratio,
)
from lab.results.measurements import Results
from lab.results.reasons import LAUNCH_BOUND, NO_RACE, Reason
from lab.results.stats import PERCENT

METRICS = ("return_over_finish", "book_claims", "no_warm_up_over_steady")
NOTES_PRODUCTS = 10  # timed together
OVER_SMALLEST = 2  # times the smallest product, mostly launch: from here on, not launch-bound


def findings(results: Results) -> dict[str, Finding]:
    sizes = results.xs("product", "result there")
    smallest, largest = (sizes[0], sizes[-1]) if sizes else (None, None)
    longest = max(results.xs("run_ahead", "waiting once"), default=1)

    def book(variant: str) -> Samples:
        return results.samples("book", variant)

    def added_us(blocker: str) -> Finding:
        blocked, free = (results.samples("blocker", each) for each in (blocker, "nothing"))
        return difference(blocked, free, "µs", Over.STARTS, better="less")

    def an_operation_s(variant: str) -> Finding:
        series = results.samples("run_ahead", variant, longest)
        return median(series * (1e-6 / longest), "s", better="less")

    returns, finishes = (
        results.samples("product", variant, largest) for variant in ("call returns", "result there")
    )
    small_returns, small_finishes = (
        results.samples("product", variant, smallest)
        for variant in ("call returns", "result there")
    )
    first = results.samples("first_product", "no warm-up")
    steady = results.samples("product", "result there", smallest)
    numpy, torch = book("numpy, float64"), book("torch, not waited for")
    fair_numpy, fair_torch = book("numpy, products alone"), book("torch, products alone")
    waited = book("torch, waited for")
    shares = (results.samples("back_end", name) for name in ("random product", "x * y + 2"))
    return {
        "return_over_finish": ratio(returns, finishes, "of the total time"),
        "small_return_over_finish": ratio(small_returns, small_finishes, "of the total time"),
        "book_claims": ratio(numpy, torch),
        "waited_speedup": ratio(numpy, waited),
        "other_gpu_speedup": ratio(numpy, book("torch, another GPU waited for")),
        "fair_speedup": ratio(fair_numpy, fair_torch),
        "waited_over_fair": ratio(numpy / waited, fair_numpy / fair_torch, "times the fair gap"),
        "waited_over_not_waited": waited_over_not_waited(waited, torch, fair_torch, steady),
        "no_warm_up_over_steady": ratio(first, steady, AS_LONG),
        "item_us": added_us(".item()"),
        "nonzero_us": added_us("nonzero"),
        "print_us": added_us("print"),
        "waiting_once_s": an_operation_s("waiting once"),
        "waiting_after_each_s": an_operation_s("waiting after each"),
        "back_end_percent": median(
            combine(min, *shares), "% of a program's time", possible=PERCENT
        ),
        "out_of_order": out_of_order(
            results.samples("dependencies", "one stream"),
            results.samples("dependencies", "another stream, no event"),
        ),
    }


def waited_over_not_waited(
    waited: Samples, not_waited: Samples, products_ms: Samples, smallest_us: Samples
) -> Finding:
    """Return how much longer the notes' products take if synchronized.

    It is missing if a product is done before the next one is launched: then nothing is queued.
    """
    product = median(products_ms * (1e3 / NOTES_PRODUCTS))
    found, launch = ratio(waited, not_waited, AS_LONG), median(smallest_us)
    if found and not product.value >= OVER_SMALLEST * launch.value:
        return missing(Reason(LAUNCH_BOUND, "book_size"), AS_LONG, waited)
    return found


def out_of_order(in_order: Samples, unordered: Samples) -> Finding:
    """Return the largest distance from 3 of the results on one stream.

    It is missing if the control, which keeps no order, was ever right.
    """
    unit = "away from 3"
    if lack := in_order.missing or unordered.missing:
        return missing(lack, unit, in_order)
    if 3 in unordered.values:
        return missing(Reason(NO_RACE), unit, in_order)
    farthest = float(np.abs(np.array(in_order.values) - 3).max())
    return exact(Samples((farthest,), in_order.device_kinds), unit, better="less")
