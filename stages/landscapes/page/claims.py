"""What the notes claim about what `landscapes` measures, and the rules that decide."""

from collections.abc import Sequence

from lab.claims.evidence import Column, Metric
from lab.claims.needs import real_airfoil
from lab.claims.rules import (
    FASTER,
    Estimate,
    Over,
    Rule,
    at_least,
    at_most,
    median,
    point,
    speedup,
    values,
)
from lab.claims.verdicts import Claim, Kind

STAGE = "landscapes"
QUADRATICS = ("x1² + x2²", "x1² - x2²", "-x1² + x2²", "-x1² - x2²")  # all flat at 0
AT_BEST = "times the error at the best step"


def maxima(*shares: Sequence[float]) -> Estimate:
    """How many flat points have lower neighbours and no higher ones.

    `shares` are each point's share of lower neighbours, then that of higher ones.
    """
    points = zip(shares[::2], shares[1::2], strict=True)
    return point(sum(lower > 0 and higher == 0 for [lower], [higher] in points))


def share_ratio(many: Sequence[float], few: Sequence[float]) -> Estimate:
    """The median of one share over another, which is not 0, paired by seed."""
    return median([a / b for a, b in zip(many, few, strict=True)], Over.SEEDS)


def neighbours(function: str) -> list[Column]:
    """The read of a flat point's shares of lower and of higher neighbours."""
    return [values(STAGE, "neighbours", function, side=side) for side in ("lower", "higher")]


CLAIMS = (
    Claim(
        "F1a",
        "12.1",
        Kind.SAID,
        "001:9-14",
        "A lower training error is not enough: overfitting raises the error on new rows.",
        "Error on the other rows of the airfoil data after the last step of training on a few,"
        " relative to the error after the best step, which other random splits chose.",
        speedup(
            values(STAGE, "overfitting", "other rows", x="100000.0"),
            values(STAGE, "best_step", "other rows"),
            FASTER,
            AT_BEST,
            Over.SEEDS,
        ),
        "“Raises”: by more than 2 % from the best step to the end, while the training error falls.",
        real_airfoil(STAGE),
    ),
    Claim(
        "F2a",
        "12.1",
        Kind.SAID,
        "001:38",
        "The minimum of the empirical risk need not be where the minimum of the risk is.",
        "Distance between the two minimizers, found numerically.",
        Rule(
            [Metric(STAGE, "argmin_risk"), Metric(STAGE, "argmin_empirical_risk")],
            lambda a, b: point(abs(a - b)),
            at_least(0.01),
            "apart on the x axis",
        ),
        "0.01 is the step with which the notes draw both functions: less could not be seen.",
    ),
    Claim(
        "F3b",
        "12.1",
        Kind.SAID,
        "001:54",
        "Every point of zero gradient that is not a minimum is a saddle (so even the maximum of"
        " −x1² − x2² would be one).",
        "Of the quadratics ±x1² ± x2², those that only fall from their flat point at 0: maxima.",
        Rule(
            [read for name in QUADRATICS for read in neighbours(name)],
            maxima,
            at_most(0),
            "counterexample",
        ),
        "“Every”: one counterexample is enough. The definition forgets maxima.",
    ),
    Claim(
        "F4b",
        "12.1",
        Kind.ASKED,
        "001:62",
        "Saddles from which only one direction leads down are harder to notice in higher"
        " dimensions.",
        "Share of random directions that lead down from a saddle like the notes', which goes up"
        " along each axis except the last: in 10 dimensions, relative to 2.",
        Rule(
            [values(STAGE, "ways_down", "one way down", dimension=d) for d in ("10.0", "2.0")],
            share_ratio,
            at_most(0.5),
            "times the share in 2 dimensions",
        ),
        "“Harder”: half as many directions or fewer give it away. From saddles of random matrices"
        " as many lead down in 10 dimensions as in 2: of those the sentence is not true.",
    ),
)
