"""What the notes claim about what `bench_parallel` measures, and the rules that decide."""

from collections.abc import Sequence

from lab.claims.evidence import NotTestableError
from lab.claims.needs import on_two_gpus
from lab.claims.rules import (
    AS_LONG,
    FASTER,
    NEEDED,
    Estimate,
    Rule,
    Verdict,
    at_least,
    decide,
    exact,
    near,
    ratio,
    speedup,
    times_ratio,
    values,
)
from lab.claims.verdicts import Claim, Kind
from lab.results.stats import SMALLEST_EFFECT

NOTES_COUNT = 10  # of a run's products, in words
WAITS = ("wait without an argument", "wait for the current GPU", "wait for both GPUs")


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


CLAIMS = (
    Claim(
        "C1",
        "13.3",
        Kind.SAID,
        "000:194",
        "The notes' run makes 10 matrix multiplications.",
        "Matrix multiplications that the notes' function makes, counted as it runs.",
        exact(
            values("bench_parallel", "the notes' run", "products of a run"),
            near(NOTES_COUNT, 0),
            "matrix multiplications",
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
            values("bench_parallel", "warm-up", "first run"),
            values("bench_parallel", "warm-up", "later runs"),
            at_least(NEEDED),
            AS_LONG,
        ),
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
        ratio("bench_parallel", "speedup", FASTER),
        "“In parallel”: the whole interval over 1.02.",
        on_two_gpus("bench_parallel"),
    ),
    Claim(
        "C3c",
        "13.3",
        Kind.SAID,
        "000:229 000:411 002:186-187",
        "torch.cuda.synchronize() without an argument waits for all GPUs and not for the current"
        " one alone.",
        "Both GPUs waited for, over the wait without an argument, with a longer job on the second.",
        Rule(
            [
                values("bench_parallel", "products, second job longer", name)
                for name in ("wait for both GPUs", *WAITS)
            ],
            over_no_argument,
            near(1, SMALLEST_EFFECT),
            AS_LONG,
        ),
        "It waits for all if the times agree within 2 %. The notes say both.",
        on_two_gpus("bench_parallel"),
    ),
)
