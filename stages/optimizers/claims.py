"""What the notes claim about what `optimizers` measures, and the rules that decide."""

from collections.abc import Sequence

from lab.claims.evidence import Column, Metric
from lab.claims.needs import real_airfoil
from lab.claims.rules import (
    FASTER,
    Estimate,
    Range,
    Rule,
    at_least,
    at_most,
    band,
    band_ratio,
    near,
    point,
    value,
)
from lab.claims.verdicts import Claim
from lab.results.stats import SMALLEST_EFFECT
from stages.optimizers import names

EQUAL = Range(1 / (1 + SMALLEST_EFFECT), 1 + SMALLEST_EFFECT)
RANKED = (names.ADAM, *(rule for rule in names.RULES if rule != names.ADAM))
EXCESS, STARTS = "x the excess", "% of the starts"


def last_ratio(*bands: Sequence[float]) -> Estimate:
    """The ratio of the last points of two series, given as `band` reads them."""
    return band_ratio(*[numbers[-1] for numbers in bands])


def time_ratio(*bands: Sequence[float]) -> Estimate:
    """The ratio of two times, given as `band` reads them; each may be off by its whole IQR."""
    time, low, high, other, other_low, other_high = [numbers[-1] for numbers in bands]
    iqr, other_iqr = high - low, other_high - other_low
    return Estimate(
        time / other, (time - iqr) / (other + other_iqr), (time + iqr) / (other - other_iqr)
    )


def last_excess(
    minimum: float, y: Sequence[float], low: Sequence[float], high: Sequence[float]
) -> Estimate:
    """The last loss over the minimum, from the band of the excess."""
    return Estimate(*[1 + numbers[-1] / minimum for numbers in (y, low, high)])


def last_step_over_first(x1: Sequence[float], x2: Sequence[float]) -> Estimate:
    """The length of a trace's last step over that of its first."""
    first, last = (((x1[i] - x1[i - 1]) ** 2 + (x2[i] - x2[i - 1]) ** 2) ** 0.5 for i in (1, -1))
    return point(last / first)


def quadratic_ratio(*traces: Sequence[float]) -> Estimate:
    """The book's quadratic at the end (x1, x2) of one trace over its value at another's."""
    x1, x2, other_x1, other_x2 = [numbers[-1] for numbers in traces]
    return point((0.1 * x1**2 + 2 * x2**2) / (0.1 * other_x1**2 + 2 * other_x2**2))


def share_lower(numbers: Sequence[float], others: Sequence[float]) -> Estimate:
    """How often a number lies under its counterpart, in percent."""
    return point(100 * sum(a < b for a, b in zip(numbers, others, strict=True)) / len(numbers))


def rank_of_the_first(*descents: Sequence[float]) -> Estimate:
    """The first rule's rank by its worst factor over the best rule of a problem.

    `descents` are those of RANKED on each problem in turn; the excess at their ends counts.
    """
    ends = [numbers[-1] for numbers in descents]
    tables = [ends[i : i + len(RANKED)] for i in range(0, len(ends), len(RANKED))]
    worst = [max(table[i] / min(table) for table in tables) for i in range(len(RANKED))]
    return point(1 + sum(factor < worst[0] for factor in worst))


def trace(series: str) -> list[Column]:
    """A trace's points, x1 and x2."""
    where = {"demo": names.TRACE, "series": series}
    return [Column("optimizers", axis, where) for axis in ("x", "y")]


CLAIMS = (
    Claim(
        "F8",
        "12.6",
        "001",
        "Lowering the rate from 0.02 to 0.01 makes up for raising momentum from 0.5 to 0.9.",
        "Excess over the exact minimum after two epochs: (0.01, 0.9) over (0.02, 0.5), bands of the"
        " seeds.",
        Rule(
            [
                *band("optimizers", names.NOTES_RUNS, names.MOMENTUM_001),
                *band("optimizers", names.NOTES_RUNS, names.MOMENTUM_05_002),
            ],
            last_ratio,
            at_most(1 + SMALLEST_EFFECT),
            EXCESS,
        ),
        "“Makes up for”: no larger an excess, 2 % allowed as everywhere. The effective rate lr/(1 −"
        " β) rises.",
        real_airfoil("optimizers"),
    ),
    Claim(
        "F9a",
        "12.6",
        "001",
        "Momentum 0.9 at rate 0.005 converges well on the airfoil regression.",
        "Loss after two epochs over the exact minimum, with the band of the seeds.",
        Rule(
            [
                Metric("optimizers", names.AIRFOIL_MINIMUM),
                *band("optimizers", names.NOTES_RUNS, names.MOMENTUM_0005),
            ],
            last_excess,
            at_most(1.05),
            "x the minimum",
        ),
        "A twentieth above the minimum can no longer be seen in the notes' figure (0.22 to 0.35).",
        real_airfoil("optimizers"),
    ),
    Claim(
        "F9b",
        "12.6",
        "001",
        "With momentum 0.9, rate 0.005 does better than 0.01.",
        "Excess over the exact minimum: rate 0.01 over rate 0.005, with the bands of the seeds.",
        Rule(
            [
                *band("optimizers", names.NOTES_RUNS, names.MOMENTUM_001),
                *band("optimizers", names.NOTES_RUNS, names.MOMENTUM_0005),
            ],
            last_ratio,
            FASTER,
            EXCESS,
        ),
        "“Better”: bands of the seeds that lie apart.",
        real_airfoil("optimizers"),
    ),
    Claim(
        "F10",
        "12.6",
        "001",
        "The concise momentum run is the same algorithm with the same settings.",
        "Excess over the exact minimum: concise run over the one from scratch, with the bands of"
        " the seeds.",
        Rule(
            [
                *band("optimizers", names.NOTES_RUNS, names.MOMENTUM_CONCISE),
                *band("optimizers", names.NOTES_RUNS, names.MOMENTUM_0005),
            ],
            last_ratio,
            EQUAL,
            EXCESS,
        ),
        "“Same”: within 2 %. torch's MSELoss lacks the half, which doubles the rate, and it runs"
        " four epochs.",
        real_airfoil("optimizers"),
    ),
    Claim(
        "F11",
        "12.7",
        "001",
        "One rate for all does not suit sparse features; AdaGrad's rate for each does better.",
        "Excess on sparse regression, each at the best rate of its sweep: SGD over AdaGrad, with"
        " the bands.",
        Rule(
            [
                *band("optimizers", names.BEST[names.SPARSE], names.at_rate(names.SGD, "*")),
                *band("optimizers", names.BEST[names.SPARSE], names.at_rate(names.ADAGRAD, "*")),
            ],
            last_ratio,
            FASTER,
            EXCESS,
        ),
        "“Better”: bands of the seeds that lie apart.",
    ),
    Claim(
        "F12a",
        "12.7",
        "001",
        "AdaGrad's sum of squared gradients grows about linearly, so its rate falls as t^−1/2.",
        "Exponent with which the sum grows on the airfoil regression, fitted after step 300.",
        value(Metric("optimizers", names.ADAGRAD_GROWTH_EXPONENT), near(1, 0.1), "as exponent"),
        "“About”: a tenth either way.",
        real_airfoil("optimizers"),
    ),
    Claim(
        "F12b",
        "12.7",
        "001",
        "A step of AdaGrad costs about as much as one of SGD.",
        "Time of an AdaGrad step over that of an SGD step, with both interquartile ranges.",
        Rule(
            [
                *band("optimizers", names.STEP_TIME, names.ADAGRAD),
                *band("optimizers", names.STEP_TIME, names.SGD),
            ],
            time_ratio,
            at_most(1.25),
            "x the time",
        ),
        "“About”: at most a quarter more.",
    ),
    Claim(
        "F13",
        "12.7",
        "001",
        "AdaGrad at rate 0.4 hardly moves any more towards the end of its 20 steps.",
        "Length of its last step over that of its first.",
        Rule(trace(names.ADAGRAD_04), last_step_over_first, at_most(0.5), "of the first step"),
        "“Hardly”: less than half of the first step; a rate that falls as t^−1/2 alone leaves"
        " 0.22.",
    ),
    Claim(
        "F14a",
        "12.7",
        "001",
        "AdaGrad at rate 2 does better than at 0.4 from the notes' start.",
        "The quadratic after 20 steps: at rate 0.4 over at rate 2.",
        Rule(
            [*trace(names.ADAGRAD_04), *trace(names.ADAGRAD_2)],
            quadratic_ratio,
            FASTER,
            "x the value",
        ),
        "“Better”: lower by more than 2 %.",
    ),
    Claim(
        "F14b",
        "12.7",
        "001",
        "That rate 2 does better than 0.4 is the method's merit, not the start's nor the axes'.",
        "Directions, of all around, from which rate 2 ends lower than 0.4, on axes turned by 45"
        " degrees.",
        Rule(
            [
                Column("optimizers", "y", {"demo": names.STARTS[45], "series": series})
                for series in (names.ADAGRAD_2, names.ADAGRAD_04)
            ],
            share_lower,
            at_least(50),
            STARTS,
        ),
        "“Better”: from most directions.",
    ),
    Claim(
        "F14c",
        "12.7",
        "001",
        "AdaGrad with its large rate does better than descent with one rate for all coordinates.",
        "Directions from which AdaGrad at 2 ends lower than descent at 0.4, on axes turned by 45"
        " degrees.",
        value(Metric("optimizers", names.ADAGRAD_LOWER_PERCENT[45]), at_least(50), STARTS),
        "“Better”: from most directions, on a quadratic whose axes are not the coordinates'.",
    ),
    Claim(
        "F17a",
        "12.10",
        "001",
        "Adam is one of the more robust and effective rules.",
        "Its rank among nine rules by the worst factor over the best rule, on three regressions.",
        Rule(
            [
                Column(
                    "optimizers",
                    "y",
                    {"demo": names.BEST[problem], "series": names.at_rate(rule, "*")},
                )
                for problem in names.PROBLEMS
                for rule in RANKED
            ],
            rank_of_the_first,
            at_most(4),
            "as rank of 9",
        ),
        "“One of the more”: in the upper half of nine.",
        real_airfoil("optimizers"),
    ),
    Claim(
        "F17b",
        "12.10",
        "001",
        "Epsilon outside Adam's root works slightly better than inside.",
        "Excess over the exact minimum: inside over outside, with the bands of the seeds.",
        Rule(
            [
                *band("optimizers", names.NOTES_RUNS, names.ADAM_EPSILON_INSIDE),
                *band("optimizers", names.NOTES_RUNS, names.ADAM_001),
            ],
            last_ratio,
            FASTER,
            EXCESS,
        ),
        "“Slightly better”: anything over 2 %, if the bands of the seeds allow to say so.",
        real_airfoil("optimizers"),
    ),
)
