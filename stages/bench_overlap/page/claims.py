"""What the notes claim about what `bench_overlap` measures, and the rules that decide."""

from lab.claims.needs import ON_GPU
from lab.claims.rules import NEEDED, Range, Rule, at_least, at_most
from lab.claims.verdicts import Claim, Kind

LEAST_OVERLAP = 0.1  # of what is possible


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
        Rule("speedup", at_least(NEEDED)),
        "“Not efficient”: a tenth of the time is saved, or more.",
        ON_GPU,
    ),
    Claim(
        "C4c",
        "13.3",
        Kind.SAID,
        "000:250",
        "The gradients of some parameters are ready earlier than those of others.",
        "Time from the start of LeNet's backward pass until its first gradient is ready, over the"
        " time until the last one is.",
        Rule("first_gradient", at_most(0.5)),
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
        Rule("notes_overlap", Range(LEAST_OVERLAP, 1)),
        "A tenth of what is possible; over 1 it is something else than overlap.",
        ON_GPU,
    ),
)
