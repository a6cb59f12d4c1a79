"""What the notes claim about what `bench_training` measures, and the rules that decide."""

from lab.claims.rules import at_most, ratio
from lab.claims.verdicts import Claim
from lab.results.stats import SMALLEST_EFFECT
from stages.bench_training import names

CLAIMS = (
    Claim(
        "D12d",
        "13.5",
        "000, 002, 004",
        "Two devices are no faster than one for LeNet: it is too small.",
        "Time of a step on one worker over that on two of equal threads each, by ddp, in turn.",
        ratio("bench_training", names.TWO_WORKERS_SPEEDUP, at_most(1 + SMALLEST_EFFECT)),
        "“No faster”: the whole interval up to 1.02.",
    ),
)
