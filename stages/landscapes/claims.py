"""What the notes claim about what `landscapes` measures, and the rules that decide."""

from collections.abc import Sequence

from lab.claims.evidence import Column, Metric
from lab.claims.rules import Estimate, Rule, at_least, at_most, point, value
from lab.claims.verdicts import Claim
from stages.landscapes import names

BOOK_MARKS = (1.1, -1.05, 1.0, -1.2)  # (x, y) of the minimum of risk, then of empirical risk
HALF_A_DIGIT = 0.05  # of the marks' places, which have one decimal


def farthest_mark(*found: Sequence[float]) -> Estimate:
    """The largest distance between a coordinate that was found and the notes' mark."""
    return point(max(abs(a - mark) for [a], mark in zip(found, BOOK_MARKS, strict=True)))


def last_over_first(numbers: Sequence[float]) -> Estimate:
    """What is left of the first number at the end."""
    return point(numbers[-1] / numbers[0])


CLAIMS = (
    Claim(
        "F2a",
        "12.1",
        "001",
        "The minimum of the empirical risk is not where the minimum of the risk is.",
        "Distance of the two minimisers, found numerically.",
        Rule(
            [
                Metric("landscapes", names.ARGMIN_RISK),
                Metric("landscapes", names.ARGMIN_EMPIRICAL_RISK),
            ],
            lambda a, b: point(abs(a - b)),
            at_least(0.01),
            "apart on the x axis",
        ),
        "0.01 is the step with which the notes draw both functions: less could not be seen.",
    ),
    Claim(
        "F2b",
        "12.1",
        "001",
        "The two minima lie where the figure's arrows point: (1.1, −1.05) and (1.0, −1.2).",
        "Largest distance between a marked coordinate and the one found numerically.",
        Rule(
            [
                Column("landscapes", axis, {"demo": names.RISK_MINIMA, "series": series})
                for series in (names.RISK, names.EMPIRICAL_RISK)
                for axis in ("x", "y")
            ],
            farthest_mark,
            at_most(HALF_A_DIGIT),
            "from the mark",
        ),
        "The places have one decimal: half of its last digit.",
    ),
    Claim(
        "F3",
        "12.1",
        "001",
        "On a saddle the gradient vanishes, though it is no minimum, and descent stays there.",
        "Steps until gradient descent leaves x1² − x2², started on the line x2 = 0.",
        value(Metric("landscapes", names.GD_STEPS_FROM_0), at_least(names.SADDLE_LIMIT), "steps"),
        "The stage counts a run as stuck after this many steps.",
    ),
    Claim(
        "F4a",
        "12.1",
        "001",
        "x1² − x2² has a minimum along one axis and a maximum along the other.",
        "The smaller curvature, up one way and down the other, of the Hessian's eigenvalues.",
        Rule(
            [
                Metric("landscapes", names.SADDLE_EIGENVALUE_LOW),
                Metric("landscapes", names.SADDLE_EIGENVALUE_HIGH),
            ],
            lambda low, high: point(min(-low, high)),
            at_least(1e-6),
            "as curvature",
        ),
        "Signs decide: anything but rounding above 0.",
    ),
    Claim(
        "F4b",
        "12.1",
        "001",
        "In high dimension a flat point is a saddle rather than a minimum.",
        "Share of random symmetric matrices without a negative eigenvalue, highest dimension over"
        " lowest.",
        Rule(
            [
                Column(
                    "landscapes",
                    "y",
                    {"demo": names.NEGATIVE_EIGENVALUES, "series": names.WITHOUT_NEGATIVE},
                )
            ],
            last_over_first,
            at_most(0.5),
            "of the lowest dimension's share",
        ),
        "“Rather”: at most half as many are left.",
    ),
)
