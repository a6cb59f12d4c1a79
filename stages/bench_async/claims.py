"""What the notes claim about what `bench_async` measures, and the rules that decide."""

from lab.claims.evidence import Metric
from lab.claims.needs import on_gpu
from lab.claims.rules import (
    AS_LONG,
    FASTER,
    Rule,
    arm,
    at_least,
    at_most,
    farthest,
    ratio,
    speedup,
    value,
)
from lab.claims.verdicts import Claim
from stages.bench_async import names

RETURNS_BEFORE = 0.9  # of the time until the result is there: less is before its work is done

CLAIMS = (
    Claim(
        "B1",
        "13.2",
        "000",
        "torch's products appear several orders of magnitude faster than numpy's.",
        "numpy over torch as the notes time it, without waiting.",
        ratio("bench_async", names.BOOK_CLAIMS, at_least(100)),
        "“Several orders”: two at least.",
        on_gpu("bench_async"),
    ),
    Claim(
        "B2",
        "13.2",
        "000",
        "Calls return before their work is done: waiting for the GPU shows it.",
        "Ten products waited for, over ten not waited for.",
        speedup(
            arm("bench_async", names.BOOK, names.WAITED_FOR),
            arm("bench_async", names.BOOK, names.NOT_WAITED_FOR),
            FASTER,
            AS_LONG,
        ),
        "“Shows”: longer by more than 2 %.",
        on_gpu("bench_async"),
    ),
    Claim(
        "B3",
        "13.2",
        "000",
        "Python hands an operation over and goes on before the result is there.",
        "Time until a product's call returns over the time until its result is there, at the"
        " largest size.",
        ratio("bench_async", names.RETURN_OVER_FINISH, at_most(RETURNS_BEFORE), "of the time"),
        "“Before”: at least a tenth of the time earlier. A CPU's threads have no queue to hand"
        " over to.",
    ),
    Claim(
        "B4",
        "13.2",
        "000",
        "x · y + 2 of ones is 3 however it is queued: the back end keeps dependencies.",
        "Largest distance of the result from 3.",
        Rule(
            [arm("bench_async", names.DEPENDENCIES, names.Z)],
            lambda z: farthest(z, 3.0),
            at_most(0),
            "from 3",
        ),
        "Small integers are exact in float32.",
    ),
    Claim(
        "C2",
        "13.3",
        "000",
        "A run to warm up is needed before times are taken.",
        "The first product of a process over later ones.",
        value(Metric("bench_async", names.NO_WARM_UP_OVER_STEADY), at_least(2), AS_LONG),
        "One sample, so that only a factor of two counts.",
    ),
)
