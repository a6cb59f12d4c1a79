"""What the notes claim about what `bench_overlap` measures, and the rules that decide."""

from collections.abc import Sequence

from lab.claims.evidence import Metric
from lab.claims.needs import Need, on_gpu
from lab.claims.rules import (
    AS_FAST,
    AS_LONG,
    FASTER,
    Estimate,
    Range,
    Rule,
    arm,
    at_least,
    at_most,
    exact,
    near,
    ratio,
    samples,
    speedup,
    times_ratio,
)
from lab.claims.verdicts import Claim, Kind
from stages.bench_overlap.measure import names

LEAST_OVERLAP = 0.1  # of what is possible
# of the book's printed seconds: computing, copying, and both
BOOK_COMPUTE, BOOK_COPY, BOOK_BOTH = 0.4656, 2.3125, 1.6907
COPY_OVER_COMPUTE = BOOK_COPY / BOOK_COMPUTE
PARTS_OVER_BOTH = (BOOK_COMPUTE + BOOK_COPY) / BOOK_BOTH
OF_THE_OVERLAP = "of the possible overlap"

AT_THE_NOTES_SIZE = (
    *on_gpu("bench_overlap"),
    Need(
        "the notes' 50 products of 4000 rows",
        Metric("bench_overlap", names.WORKLOAD),
        (names.NOTES,),
        "measure with the profile `full`",
    ),
)


def over_the_sum(
    computing: Sequence[float], copying: Sequence[float], both: Sequence[float]
) -> Estimate:
    """Both parts, each timed alone, added up, over both at once."""
    return times_ratio([a + b for a, b in zip(computing, copying, strict=True)], both)


CLAIMS = (
    Claim(
        "C4",
        "13.3",
        Kind.SAID,
        "000:250",
        "Computing everything before copying anything is not efficient: moving data while"
        " computing pays.",
        "Computing then copying, over the same copies beside the computation, on a GPU by a second"
        " stream, else by a second thread. Unless the workload is the notes', a copy takes as long"
        " as a product: there it can pay most.",
        ratio("bench_overlap", names.SPEEDUP, FASTER),
        "“Pays”: the whole interval over 1.02.",
    ),
    Claim(
        "C4b",
        "13.3",
        Kind.SAID,
        "000:250",
        "Parts of the results can be copied away while the rest is still being computed.",
        "Overlap fraction of copies beside the computation: 0 for the sum of both, 1 for the"
        " longer.",
        ratio("bench_overlap", names.OVERLAP_FRACTION, at_least(LEAST_OVERLAP), OF_THE_OVERLAP),
        "A tenth of what is possible.",
    ),
    Claim(
        "C4c",
        "13.3",
        Kind.SAID,
        "000:250",
        "The gradients of some parameters are ready earlier than those of others.",
        "Time from the start of LeNet's backward pass until its first gradient is ready, over the"
        " time until the last one is.",
        speedup(
            arm("bench_overlap", names.BACKWARD, names.FIRST_READY),
            arm("bench_overlap", names.BACKWARD, names.LAST_READY),
            at_most(0.5),
            "of the whole pass",
        ),
        "“Earlier”, so that it can be moved meanwhile: half of the pass is still to come.",
    ),
    Claim(
        "C4d",
        "13.3",
        Kind.PRINTED,
        "book:13.3",
        "Copying the results to the host takes 4.97 times as long as computing them.",
        "Copies into pageable memory, as in the notes, over the products.",
        speedup(
            arm("bench_overlap", names.TIMES, names.PAGEABLE_COPIES),
            arm("bench_overlap", names.TIMES, names.COMPUTE),
            near(COPY_OVER_COMPUTE, 0.1 * COPY_OVER_COMPUTE),
            AS_LONG,
        ),
        "One sample is printed: within a tenth.",
        AT_THE_NOTES_SIZE,
    ),
    Claim(
        "C5",
        "13.3",
        Kind.SAID,
        "000:250",
        "Copying with non_blocking=True, as in the notes, overlaps with products still running.",
        "Overlap fraction of the notes' way: 0 for the sum of both, 1 for the longer.",
        samples(
            arm("bench_overlap", names.OVERLAP, names.BOOK), Range(LEAST_OVERLAP, 1), OF_THE_OVERLAP
        ),
        "A tenth of what is possible; over 1 it is something else than overlap.",
        on_gpu("bench_overlap"),
    ),
    Claim(
        "C5b",
        "13.3",
        Kind.SAID,
        "000:250",
        "With non_blocking the caller can bypass synchronisation.",
        "Time until the notes' call to copy all results returns, over the time until the copies"
        " are there.",
        speedup(
            arm("bench_overlap", names.CALL, names.RETURNS),
            arm("bench_overlap", names.CALL, names.ARRIVES),
            at_most(0.9),
            "of the time to arrive",
        ),
        "“Bypass”: back at least a tenth of the time before.",
        on_gpu("bench_overlap"),
    ),
    Claim(
        "C5c",
        "13.3",
        Kind.SAID,
        "000:250",
        "PyTorch's to() and copy_() both take an argument non_blocking.",
        "How many of the two do.",
        exact(arm("bench_overlap", names.ARGUMENT, names.CALLS_WITH_IT), near(2, 0), "calls"),
        "A number to count: both.",
    ),
    Claim(
        "C5d",
        "13.3",
        Kind.PRINTED,
        "book:13.3",
        "With non_blocking both take 1/1.64 of the time of computing and copying added up.",
        "The products and the copies into pageable memory, added up, over both as in the notes.",
        Rule(
            [
                arm("bench_overlap", names.TIMES, name)
                for name in (names.COMPUTE, names.PAGEABLE_COPIES, names.BOOK)
            ],
            over_the_sum,
            near(PARTS_OVER_BOTH, 0.1 * PARTS_OVER_BOTH),
            AS_FAST,
        ),
        "One sample is printed: within a tenth.",
        AT_THE_NOTES_SIZE,
    ),
)
