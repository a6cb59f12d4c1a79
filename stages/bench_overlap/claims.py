"""What the notes claim about what `bench_overlap` measures, and the rules that decide."""

from lab.claims.needs import on_gpu
from lab.claims.rules import FASTER, Range, arm, ratio, samples
from lab.claims.verdicts import Claim
from stages.bench_overlap import names

CLAIMS = (
    Claim(
        "C4",
        "13.3",
        "000",
        "Computing everything before copying anything wastes time.",
        "Computing then copying, over this machine's best way to do both at once.",
        ratio("bench_overlap", names.SPEEDUP, FASTER),
        "“Wastes”: the whole interval over 1.02.",
    ),
    Claim(
        "C5",
        "13.3",
        "000",
        "Copying with non_blocking=True overlaps with the products that are still running.",
        "Overlap fraction of the notes' way: 0 for the sum of both, 1 for the longer.",
        samples(
            arm("bench_overlap", names.OVERLAP, names.BOOK),
            Range(0.1, 1),
            "of the possible overlap",
        ),
        "A tenth of what is possible; over 1 it is something else than overlap.",
        on_gpu("bench_overlap"),
    ),
)
