"""What the notes claim about what `bench_parallel` measures, and the rules that decide."""

from lab.claims.needs import on_own_devices, on_two_gpus
from lab.claims.rules import AS_LONG, FASTER, arm, near, ratio, speedup
from lab.claims.verdicts import Claim
from lab.results.stats import SMALLEST_EFFECT
from stages.bench_parallel import names

CLAIMS = (
    Claim(
        "C3a",
        "13.3",
        "000",
        "Two jobs on two devices together take less time than one after the other.",
        "One after the other over together, with large products.",
        ratio("bench_parallel", names.SPEEDUP, FASTER),
        "“Less”: the whole interval over 1.02.",
        on_own_devices("bench_parallel"),
    ),
    Claim(
        "C3b",
        "13.3",
        "000",
        "The framework runs two GPUs at the same time by itself, with nothing in the program that"
        " says so.",
        "One after the other over together, on two GPUs.",
        ratio("bench_parallel", names.SPEEDUP, FASTER),
        "“At the same time”: the whole interval over 1.02. Virtual devices are given threads by"
        " the stage.",
        on_two_gpus("bench_parallel"),
    ),
    Claim(
        "C3c",
        "13.3",
        "000",
        "torch.cuda.synchronize() without an argument waits for all GPUs.",
        "Both GPUs waited for, over the notes' wait, with a longer job on the second.",
        speedup(
            arm("bench_parallel", names.LONGER_SECOND, names.BOTH_WAITED_FOR),
            arm("bench_parallel", names.LONGER_SECOND, names.CURRENT_WAITED_FOR),
            near(1, SMALLEST_EFFECT),
            AS_LONG,
        ),
        "It waits for all if the times agree within 2 %.",
        on_two_gpus("bench_parallel"),
    ),
)
