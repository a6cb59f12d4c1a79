"""What the notes claim about what `bench_parallel` measures, and the rules that decide."""

from collections.abc import Sequence

from lab.claims.evidence import NotTestableError
from lab.claims.needs import on_gpu, on_own_devices, on_two_gpus
from lab.claims.rules import (
    AS_FAST,
    AS_LONG,
    FASTER,
    Estimate,
    Rule,
    Verdict,
    arm,
    at_least,
    at_most,
    decide,
    exact,
    near,
    point,
    ratio,
    speedup,
    times_ratio,
)
from lab.claims.verdicts import Claim, Kind, Unmeasured
from lab.results.stats import SMALLEST_EFFECT
from stages.bench_parallel.measure import names

NOTES_COUNT = 10  # of a run's products, in words
WAITS = (names.NO_ARGUMENT, names.CURRENT_WAITED_FOR, names.BOTH_WAITED_FOR)
BOOK_RATIO = (0.4660 + 0.4510) / 0.4659  # of the book's printed seconds


def half_way(first: Sequence[float], later: Sequence[float], emptied: Sequence[float]) -> Estimate:
    """A run with the caches emptied, over the time half way between later runs and the first."""
    return times_ratio(emptied, [(a + b) / 2 for a, b in zip(first, later, strict=True)])


def gain_of_dependent(
    one: Sequence[float], dependent: Sequence[float], independent: Sequence[float]
) -> Estimate:
    """What two devices gain with dependent products, if they gain with independent ones."""
    _must_be_faster(
        one, independent, "two devices do not measurably gain with independent products"
    )
    return times_ratio(one, dependent)


def over_no_argument(
    waited: Sequence[float],
    no_argument: Sequence[float],
    current: Sequence[float],
    both: Sequence[float],
) -> Estimate:
    """A wait over the one without an argument, if it shows at all which GPUs are waited for."""
    _must_be_faster(both, current, "the second GPU's job was not the longer; take larger matrices")
    return times_ratio(waited, no_argument)


def _must_be_faster(old: Sequence[float], new: Sequence[float], reason: str) -> None:
    """Raise NotTestableError with `reason` unless `new` is faster, as far as can be said."""
    control = times_ratio(old, new)
    if control.decides and decide(control, FASTER) is not Verdict.CONFIRMED:
        raise NotTestableError(reason)


def still_at_work(before: Sequence[float], after: Sequence[float]) -> Estimate:
    """The streams at work after the wait, if both were at work before it.

    Raises:
        NotTestableError: one was idle already.
    """
    if min(before) < 2:
        raise NotTestableError("a stream had finished before the wait; take larger matrices")
    return point(max(after))


CLAIMS = (
    Claim(
        "C1",
        "13.3",
        Kind.SAID,
        "000:194",
        "The notes' run makes 10 products of matrices.",
        "Products that the notes' function makes, counted as it runs.",
        exact(
            arm("bench_parallel", names.NOTES_RUN, names.PRODUCTS_OF_A_RUN),
            near(NOTES_COUNT, 0),
            "products",
        ),
        "A number to count: exactly 10.",
    ),
    Claim(
        "C2",
        "13.3",
        Kind.SAID,
        "000:206",
        "A device has to be warmed up before times are taken.",
        "The first run of a process over its later runs.",
        speedup(
            arm("bench_parallel", names.WARM_UP, names.FIRST_RUN),
            arm("bench_parallel", names.WARM_UP, names.LATER_RUN),
            FASTER,
            AS_LONG,
        ),
        "“Has to”: without it a time is wrong by more than 2 %.",
    ),
    Claim(
        "C2b",
        "13.3",
        Kind.SAID,
        "000:206",
        "Caches are what a run to warm up keeps out of the times.",
        "A run right after the caches are emptied, over the time half way between later runs and"
        " the first of the process.",
        Rule(
            [
                arm("bench_parallel", names.WARM_UP, name)
                for name in (names.FIRST_RUN, names.LATER_RUN, names.EMPTIED_CACHES)
            ],
            half_way,
            at_least(1),
            AS_LONG,
        ),
        "Caches are what it is about if they make up half of what the first run takes longer.",
    ),
    Claim(
        "C2c",
        "13.3",
        Kind.SAID,
        "000:206",
        "One pass over a device is enough to warm it up.",
        "The second run of a process over its later runs.",
        speedup(
            arm("bench_parallel", names.WARM_UP, names.SECOND_RUN),
            arm("bench_parallel", names.WARM_UP, names.LATER_RUN),
            at_most(1 + SMALLEST_EFFECT),
            AS_LONG,
        ),
        "“Enough”: what comes next takes at most 2 % longer than what comes later.",
    ),
    Claim(
        "B4d",
        "13.2",
        Kind.SAID,
        "000:173",
        "Operations that depend on each other cannot be done in parallel.",
        "Products that each need the one before: all on one device, over every other one on a"
        " second device. Two chains that need nothing of each other must gain by it.",
        Rule(
            [
                arm("bench_parallel", names.DEPENDENCIES, name)
                for name in (names.ONE_DEVICE, names.DEPENDENT, names.INDEPENDENT)
            ],
            gain_of_dependent,
            at_most(1 + SMALLEST_EFFECT),
            AS_FAST,
        ),
        "“Cannot”: a second device gains at most 2 %.",
    ),
    Claim(
        "C3a",
        "13.3",
        Kind.SAID,
        "000:223",
        "Two devices work in parallel once the wait between the two jobs is left out.",
        "The same two jobs with a wait in between, over without it, with large products. Virtual"
        " devices show the mechanism: the stage gives each a thread.",
        ratio("bench_parallel", names.SPEEDUP, FASTER),
        "“In parallel”: the whole interval over 1.02.",
        on_own_devices("bench_parallel"),
    ),
    Claim(
        "C3b",
        "13.3",
        Kind.SAID,
        "000:232",
        "Two GPUs together take less time than both parts added up, since the framework runs them"
        " at once by itself.",
        "The times of both alone, added up, over together, with large products.",
        ratio("bench_parallel", names.PARTS_SPEEDUP, FASTER),
        "“Less”: the whole interval over 1.02.",
        on_two_gpus("bench_parallel"),
    ),
    Claim(
        "C3c",
        "13.3",
        Kind.SAID,
        "000:229",
        "torch.cuda.synchronize() without an argument waits for all GPUs.",
        "Both GPUs waited for, over the wait without an argument, with a longer job on the second.",
        Rule(
            [
                arm("bench_parallel", names.LONGER_SECOND, name)
                for name in (names.BOTH_WAITED_FOR, *WAITS)
            ],
            over_no_argument,
            near(1, SMALLEST_EFFECT),
            AS_LONG,
        ),
        "It waits for all if the times agree within 2 %.",
        on_two_gpus("bench_parallel"),
    ),
    Claim(
        "C3d",
        "13.3",
        Kind.SAID,
        "000:206",
        "torch.cuda.synchronize(device) waits for all work in all streams of a GPU.",
        "Streams of one GPU, both at work before the wait, that are at work after it.",
        Rule(
            [
                arm("bench_parallel", names.STREAMS, name)
                for name in (names.BEFORE_THE_WAIT, names.AFTER_THE_WAIT)
            ],
            still_at_work,
            at_most(0),
            "streams",
        ),
        "“All”: none is left at work, in any round of any start.",
        on_gpu("bench_parallel"),
    ),
    Claim(
        "C3e",
        "13.3",
        Kind.SAID,
        "000:206",
        "Without an argument torch.cuda.synchronize waits for the current device.",
        "The current GPU waited for, over the wait without an argument, with a longer job on the"
        " other one.",
        Rule(
            [
                arm("bench_parallel", names.LONGER_SECOND, name)
                for name in (names.CURRENT_WAITED_FOR, *WAITS)
            ],
            over_no_argument,
            near(1, SMALLEST_EFFECT),
            AS_LONG,
        ),
        "It waits for that one if the times agree within 2 %.",
        on_two_gpus("bench_parallel"),
    ),
    Claim(
        "C3f",
        "13.3",
        Kind.PRINTED,
        "book:13.3",
        "Two GPUs together are 1.97 times as fast as both parts added up.",
        "The times of both alone, added up, over together, with large products.",
        ratio("bench_parallel", names.PARTS_SPEEDUP, near(BOOK_RATIO, 0.1 * BOOK_RATIO)),
        "One sample is printed: within a tenth.",
        on_two_gpus("bench_parallel"),
    ),
)

UNMEASURED = (
    Unmeasured(
        "000:185",
        "The experiments of this section need at least two GPUs.",
        "The notes' program asks for a second GPU by its number, and stops without one. Here the"
        " same jobs run on virtual devices, and the copies need one GPU.",
    ),
)
