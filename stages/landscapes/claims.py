"""What the notes claim about what `landscapes` measures, and the rules that decide."""

from collections.abc import Sequence

from lab.claims.evidence import Column, Metric
from lab.claims.rules import Estimate, Rule, at_least, at_most, point, value
from lab.claims.verdicts import Claim

SADDLE_LIMIT = 10_000  # steps after which stages/landscapes counts a run as still on the saddle
BOOK_MARKS = (
    1.1,
    1.0,
    -1.05,
    -1.2,
)  # minimiser of risk and of empirical risk, and both minima, as the notes mark them
HALF_A_DIGIT = 0.05  # of the marks' places, which have one decimal


def farthest_mark(*found: float) -> Estimate:
    """Return the largest distance between what was found and the notes' marks."""
    return point(max(abs(a - b) for a, b in zip(found, BOOK_MARKS, strict=True)))


def last_over_first(numbers: Sequence[float]) -> Estimate:
    """Return what is left of the first number at the end."""
    return point(numbers[-1] / numbers[0])


CLAIMS = (
    Claim(
        "F2a",
        "12.1",
        "001",
        "The minimum of the empirical risk is not where the minimum of the risk is.",
        "Distance of the two minimisers, found numerically.",
        Rule(
            [Metric("landscapes", "argmin_risk"), Metric("landscapes", "argmin_empirical_risk")],
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
                Metric("landscapes", name)
                for name in (
                    "argmin_risk",
                    "argmin_empirical_risk",
                    "min_risk",
                    "min_empirical_risk",
                )
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
        value(Metric("landscapes", "escape_steps_gd_from_0"), at_least(SADDLE_LIMIT), "steps"),
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
                Metric("landscapes", "saddle_eigenvalue_low"),
                Metric("landscapes", "saddle_eigenvalue_high"),
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
                    {"demo": "negative_eigenvalues", "series": "matrices without a negative one"},
                )
            ],
            last_over_first,
            at_most(0.5),
            "of the lowest dimension's share",
        ),
        "“Rather”: at most half as many are left.",
    ),
)
