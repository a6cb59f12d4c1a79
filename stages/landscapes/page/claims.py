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
    series,
    speedup,
)
from lab.claims.verdicts import Claim, Kind
from stages.landscapes.measure import names

STAGE = "landscapes"
BOOK_MARKS = (1.1, -1.05, 1.0, -1.2)  # (x, y) of the minimum of risk, then of empirical risk
HALF_A_DIGIT = 0.05  # of the marks' places, which have one decimal
AT_BEST, TRAINED_ON = "times the error at the best step", "times the error on the rows trained on"


def farthest_mark(*found: Sequence[float]) -> Estimate:
    """The largest distance between a coordinate that was found and the notes' mark."""
    return point(max(abs(a - mark) for [a], mark in zip(found, BOOK_MARKS, strict=True)))


def roughness_ratio(numbers: Sequence[float], others: Sequence[float]) -> Estimate:
    """The largest bend between three neighbouring points of one curve over that of another."""

    def largest_bend(y: Sequence[float]) -> float:
        return max(abs(y[i - 1] - 2 * y[i] + y[i + 1]) for i in range(1, len(y) - 1))

    return point(largest_bend(numbers) / largest_bend(others))


def percent_lower(lower: float | Sequence[float]) -> Estimate:
    """A share in percent."""
    return point(100 * point(lower).value)


def percent_both_ways(*shares: Sequence[float]) -> Estimate:
    """Of the flat points with lower neighbours, those that have higher ones, too, in percent.

    `shares` are each point's share of lower neighbours, then that of higher ones.
    """
    points = [(lower, higher) for [lower], [higher] in zip(shares[::2], shares[1::2], strict=True)]
    no_minima = [higher for lower, higher in points if lower > 0]
    return point(100 * sum(higher > 0 for higher in no_minima) / len(no_minima))


def share_ratio(many: Sequence[float], few: Sequence[float]) -> Estimate:
    """The median of one share over another, which is not 0, paired by seed."""
    return median([a / b for a, b in zip(many, few, strict=True)], Over.SEEDS)


def over_number(numbers: Sequence[float], number: float) -> Estimate:
    """The median of numbers by seed over a number that does not vary."""
    return median([each / number for each in numbers], Over.SEEDS)


def neighbours(function: str) -> list[Column]:
    """The read of a flat point's shares of lower and of higher neighbours."""
    return [series(STAGE, names.NEIGHBOURS, function, axis) for axis in ("x", "y")]


CLAIMS = (
    Claim(
        "F1a",
        "12.1",
        Kind.SAID,
        "001:14",
        "Beside lowering the training error one has to mind overfitting.",
        "Error on other rows of the airfoil table at the end of descent on a few, over that at the"
        " step best for other seeds.",
        speedup(
            series(STAGE, names.OVERFITTING_ENDS, names.OTHERS),
            series(STAGE, names.OVERFITTING_ENDS, names.OTHERS_AT_BEST),
            FASTER,
            AT_BEST,
            Over.SEEDS,
        ),
        "“Has to mind”: descending on costs more than 2 % on new rows, though it lowers the"
        " training error.",
        real_airfoil(STAGE),
    ),
    Claim(
        "F1b",
        "12.1",
        Kind.SAID,
        "001:9-14",
        "The training error, which optimisation lowers, is not the generalisation error.",
        "Error on other rows of the airfoil table over that on the rows trained on, at the end of"
        " descent.",
        speedup(
            series(STAGE, names.OVERFITTING_ENDS, names.OTHERS),
            series(STAGE, names.OVERFITTING_ENDS, names.TRAINING),
            FASTER,
            TRAINED_ON,
            Over.SEEDS,
        ),
        "“Is not”: higher by more than 2 %.",
        real_airfoil(STAGE),
    ),
    Claim(
        "F2a",
        "12.1",
        Kind.SAID,
        "001:38",
        "The minimum of the empirical risk need not be where the minimum of the risk is.",
        "Distance of the two minimisers, found numerically.",
        Rule(
            [Metric(STAGE, names.ARGMIN_RISK), Metric(STAGE, names.ARGMIN_EMPIRICAL_RISK)],
            lambda a, b: point(abs(a - b)),
            at_least(0.01),
            "apart on the x axis",
        ),
        "0.01 is the step with which the notes draw both functions: less could not be seen.",
    ),
    Claim(
        "F2b",
        "12.1",
        Kind.SAID,
        "001:48-49",
        "The two minima lie where the figure's arrows point: (1.1, −1.05) and (1.0, −1.2).",
        "Largest distance between a marked coordinate and the one found numerically.",
        Rule(
            [
                series(STAGE, names.RISK_MINIMA, name, axis)
                for name in (names.RISK, names.EMPIRICAL_RISK)
                for axis in ("x", "y")
            ],
            farthest_mark,
            at_most(HALF_A_DIGIT),
            "away from the mark",
        ),
        "The places have one decimal: half of its last digit.",
    ),
    Claim(
        "F2c",
        "12.1",
        Kind.SAID,
        "001:28",
        "The empirical risk g is less smooth than the risk f.",
        "Largest bend between three neighbouring points of the notes' grid: g over f.",
        Rule(
            [series(STAGE, names.RISKS, name) for name in (names.EMPIRICAL_RISK, names.RISK)],
            roughness_ratio,
            FASTER,
            "times as sharp a bend",
        ),
        "“Less smooth”: bent more sharply somewhere, by more than 2 %. Both are the notes' own"
        " formulas; no data are behind g.",
    ),
    Claim(
        "F3a",
        "12.1",
        Kind.SAID,
        "001:54-59",
        "At 0, where its gradient vanishes, x³ has no minimum but a saddle.",
        "Share of the points beside 0 at which x³ lies lower.",
        Rule(
            neighbours(names.CUBE)[:1], percent_lower, at_least(1), "% of the neighbouring points"
        ),
        "“No minimum”: some point beside it lies lower.",
    ),
    Claim(
        "F3b",
        "12.1",
        Kind.SAID,
        "001:54",
        "Whatever point has no gradient and is no minimum is a saddle.",
        "Of the quadratics ±x1² ± x2², among those without a minimum at 0: those that go up and"
        " down beside it.",
        Rule(
            [read for name in names.QUADRATICS for read in neighbours(name)],
            percent_both_ways,
            at_least(100),
            "% of the flat points that are no minimum",
        ),
        "“Whatever”: all. The definition forgets maxima.",
    ),
    Claim(
        "F3c",
        "12.1",
        Kind.ASKED,
        "001:54",
        "Noise in the gradient frees descent from a saddle as soon as a start a millionth beside"
        " it does.",
        "Steps to leave x1² − x2²: noisy descent from the line x2 = 0 over plain descent from 1e-6"
        " beside it.",
        Rule(
            [series(STAGE, names.NOISY_ESCAPE, names.NOISY_GD), Metric(STAGE, names.GD_STEPS)],
            over_number,
            at_most(1),
            "times as many steps",
        ),
        "“As soon as”: in no more steps.",
    ),
    Claim(
        "F4a",
        "12.1",
        Kind.SAID,
        "001:62",
        "At 0, x1² − x2² has a maximum along x2 and a minimum along x1.",
        "Curvature upwards along x1 and downwards along x2, from values on the notes' grid: the"
        " smaller.",
        Rule(
            [Metric(STAGE, name) for name in names.SADDLE_CURVATURES],
            lambda along_x1, along_x2: point(min(along_x1, -along_x2)),
            at_least(1e-6),
            "(smaller absolute eigenvalue of the Hessian)",
        ),
        "Signs decide: anything but rounding above 0.",
    ),
    Claim(
        "F4b",
        "12.1",
        Kind.SAID,
        "001:62",
        "In higher dimensions saddles are harder to notice.",
        "Share of random directions that lead down from a saddle like the notes', with one way"
        " down: in 10 dimensions over in 2.",
        Rule(
            [series(STAGE, names.WAYS_DOWN, names.one_way(d)) for d in (names.MANY, names.FEW)],
            share_ratio,
            at_most(0.5),
            "times the share in 2 dimensions",
        ),
        "“Harder”: half as many directions or fewer give it away. The notes' saddle goes up along"
        " each axis but the last.",
    ),
    Claim(
        "F4c",
        "12.1",
        Kind.ASKED,
        "001:62",
        "Random saddles, too, are harder to notice in higher dimensions.",
        "The same share for random symmetric matrices with eigenvalues of both signs.",
        Rule(
            [
                series(STAGE, names.WAYS_DOWN, names.random_saddles(d))
                for d in (names.MANY, names.FEW)
            ],
            share_ratio,
            at_most(0.5),
            "times the share in 2 dimensions",
        ),
        "As for the saddle with one way down.",
    ),
)
