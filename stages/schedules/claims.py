"""What the notes claim about what `schedules` measures, and the rules that decide."""

from collections.abc import Sequence

from lab.claims.evidence import Column, NotTestableError
from lab.claims.needs import real_images
from lab.claims.rules import POINTS, Estimate, Rule, at_least, band, point
from lab.claims.verdicts import Claim
from stages.schedules import names

ONE_TEST_IMAGE = 100 / names.TEST_IMAGES  # in percentage points


def last_difference(*bands: Sequence[float]) -> Estimate:
    """The difference of two series' last points in percentage points, with the bands' extremes."""
    y, low, high, other_y, other_low, other_high = [100 * numbers[-1] for numbers in bands]
    return Estimate(y - other_y, low - other_high, high - other_low)


def most_failures(rates: Sequence[float], failed: Sequence[float]) -> Estimate:
    """The largest share of seeds that fail at any rate, in percent."""
    _some_fail(rates, failed)
    return point(100 * max(failed))


def prevented(
    rates: Sequence[float], failed: Sequence[float], failed_warm: Sequence[float]
) -> Estimate:
    """The share of failures that warm-up prevents, in percent, and its range over the rates.

    Only rates at which runs fail without warm-up count.
    """
    _some_fail(rates, failed)
    pairs = [(plain, warm) for plain, warm in zip(failed, failed_warm, strict=True) if plain > 0]
    shares = [100 * (1 - warm / plain) for plain, warm in pairs]
    overall = 100 * (1 - sum(warm for _, warm in pairs) / sum(plain for plain, _ in pairs))
    return Estimate(overall, min(shares), max(shares))


def _some_fail(rates: Sequence[float], failed: Sequence[float]) -> None:
    if max(failed) <= 0:
        raise NotTestableError(
            f"no run fails at any rate up to {max(rates):g}; add higher ones to"
            " schedules.high_rates"
        )


def failures(arm: str, column: str = "y") -> Column:
    """An arm's share of failed seeds, by rate."""
    return Column("schedules", column, {"demo": names.FAILURES, "series": arm})


CLAIMS = (
    Claim(
        "F20a",
        "12.11",
        "001",
        "A large rate at the start makes training diverge.",
        "Largest share of the seeds that fail without warm-up, over all base rates.",
        Rule(
            [failures(names.NO_WARM_UP, "x"), failures(names.NO_WARM_UP)],
            most_failures,
            at_least(50),
            "% of the seeds",
        ),
        "“Makes”: most of the seeds.",
    ),
    Claim(
        "F20b",
        "12.11",
        "001",
        "Warm-up, a ramp to the large rate and cooling down after it, keeps training from"
        " diverging.",
        "Share of failures that warm-up prevents, at rates where runs fail without; range over the"
        " rates.",
        Rule(
            [failures(names.NO_WARM_UP, "x"), failures(names.NO_WARM_UP), failures(names.WARM_UP)],
            prevented,
            at_least(90),
            "% of the failures",
        ),
        "“Keeps from”: at most a tenth of the failures is left.",
    ),
    Claim(
        "F20c",
        "12.11",
        "001",
        "A cosine schedule with warm-up trains better than one without.",
        "Difference of the test accuracies at base rate 0.3, with the bands of the seeds.",
        Rule(
            [
                *band("schedules", names.ACCURACY, names.COSINE_WARM_UP),
                *band("schedules", names.ACCURACY, names.COSINE),
            ],
            last_difference,
            at_least(ONE_TEST_IMAGE),
            POINTS,
        ),
        "“Better”: at least one test image of 2000.",
        real_images("schedules"),
    ),
)
