"""What the notes claim about what `bench_overlap` measures, and the rules that decide."""

from lab.claims.needs import on_gpu
from lab.claims.rules import NEEDED, Range, at_least, at_most, ratio, samples, speedup, values
from lab.claims.verdicts import Claim, Kind
from lab.results.stats import ANY

LEAST_OVERLAP = 0.1  # of what is possible
OF_THE_OVERLAP = "of the possible overlap"


CLAIMS = (
    Claim(
        "C4",
        "13.3",
        Kind.SAID,
        "000:250",
        "Computing everything before copying anything is not efficient: moving data from a GPU"
        " while it computes pays.",
        "Computing then copying, over the same copies on a second stream beside the computation."
        " Unless the workload is the notes', a copy takes as long as a matrix multiplication:"
        " there it can pay most.",
        ratio("bench_overlap", "speedup", at_least(NEEDED)),
        "“Not efficient”: a tenth of the time is saved, or more.",
        on_gpu("bench_overlap"),
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
            values("bench_overlap", "backward pass", "first gradient ready"),
            values("bench_overlap", "backward pass", "last gradient ready"),
            at_most(0.5),
            "of the whole pass",
        ),
        "“Earlier”, so that it can be moved meanwhile: half of the pass is still to come.",
    ),
    Claim(
        "C5",
        "13.3",
        Kind.SAID,
        "000:250",
        "Copying with non_blocking=True, as in the notes, overlaps with matrix multiplications"
        " still running.",
        "Overlap fraction of the notes' way: 0 for the sum of both, 1 for the longer.",
        samples(
            values("bench_overlap", "overlap", "the book's non_blocking, one stream"),
            Range(LEAST_OVERLAP, 1),
            OF_THE_OVERLAP,
            possible=ANY,
        ),
        "A tenth of what is possible; over 1 it is something else than overlap.",
        on_gpu("bench_overlap"),
    ),
)
