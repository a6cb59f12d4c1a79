"""What the notes claim about what `bench_parallel` measures, and the rules that decide."""

from lab.claims.needs import ON_TWO_GPUS
from lab.claims.rules import FASTER, NEEDED, Rule, at_least, near
from lab.claims.verdicts import Claim, Kind
from lab.results.stats import SMALLEST_EFFECT

NOTES_COUNT = 10  # of a run's products, in words

CLAIMS = (
    Claim(
        "C1",
        "13.3",
        Kind.SAID,
        "000:194",
        "The notes' run makes 10 matrix multiplications.",
        "Matrix multiplications that the notes' function makes, counted as it runs.",
        Rule("products_of_a_run", near(NOTES_COUNT, 0)),
        "A number to count: exactly 10.",
    ),
    Claim(
        "C2",
        "13.3",
        Kind.SAID,
        "000:206",
        "A device has to be warmed up before times are taken.",
        "The first run of a process over its later runs.",
        Rule("first_run", at_least(NEEDED)),
        "“Has to”: without it a time is wrong by a tenth or more.",
    ),
    Claim(
        "C3a",
        "13.3",
        Kind.SAID,
        "000:223",
        "Two GPUs work in parallel once the wait between the two jobs is left out.",
        "The same two jobs with a wait in between, relative to without it, with large matrix"
        " multiplications.",
        Rule("speedup", FASTER),
        "“In parallel”: the whole interval over 1.02.",
        ON_TWO_GPUS,
    ),
    Claim(
        "C3c",
        "13.3",
        Kind.SAID,
        "000:229 000:411 002:186-187",
        "torch.cuda.synchronize() without an argument waits for all GPUs and not for the current"
        " one alone.",
        "Both GPUs waited for, over the wait without an argument, with a longer job on the second.",
        Rule("both_gpus_over_wait", near(1, SMALLEST_EFFECT)),
        "It waits for all if the times agree within 2 %. The notes say both.",
        ON_TWO_GPUS,
    ),
)
