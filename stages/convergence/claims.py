"""What the notes claim about what `convergence` measures, and the rules that decide."""

from collections.abc import Sequence

from lab.claims.evidence import Column
from lab.claims.needs import real_images
from lab.claims.rules import FASTER, NOTES_BATCH, Estimate, Rule, band_ratio, ratio
from lab.claims.verdicts import Claim
from stages.convergence.names import EPOCHS, FIXED, LINEAR, WARM_UP, large_batch_penalty, seed_of
from stages.convergence.over_seeds import median_and_range

AS_MANY_EPOCHS = "x as many epochs"


def epochs(rule: str) -> Column:
    """The seeds' epochs to the target at the notes' batch."""
    where = {"demo": EPOCHS, "series": seed_of(rule, "*"), "x": f"{NOTES_BATCH}.0"}
    return Column("convergence", "y", where)


def median_epochs_ratio(numerator: Sequence[float], denominator: Sequence[float]) -> Estimate:
    """The ratio of the medians over the seeds, with the interval that both ranges allow."""
    return band_ratio(*median_and_range(numerator), *median_and_range(denominator))


CLAIMS = (
    Claim(
        "G11a",
        "13.7",
        "001",
        "A larger batch needs more epochs for the same accuracy.",
        "Epochs to the target accuracy, the largest batch over the smallest, the rate kept; range"
        " over seeds.",
        ratio("convergence", large_batch_penalty(FIXED), FASTER, AS_MANY_EPOCHS),
        "“More”: every seed by more than 2 %.",
        real_images("convergence"),
    ),
    Claim(
        "G11b",
        "13.7",
        "001",
        "At very large batches convergence suffers even if the rate is raised with the batch.",
        "The same with the rate scaled by the batch and warmed up.",
        ratio("convergence", large_batch_penalty(WARM_UP), FASTER, AS_MANY_EPOCHS),
        "“Suffers”: every seed by more than 2 %.",
        real_images("convergence"),
    ),
    Claim(
        "D2a",
        "13.5",
        "000",
        "A batch that is enlarged for more devices may need a higher rate.",
        (
            "Epochs to the target accuracy at batch 256, the rate of batch 64 kept, over those with"
            " four times the rate; medians, interval from the ranges over seeds."
        ),
        Rule([epochs(FIXED), epochs(LINEAR)], median_epochs_ratio, FASTER, AS_MANY_EPOCHS),
        "“Need”: the kept rate takes more than 2 % longer.",
        real_images("convergence"),
    ),
)
