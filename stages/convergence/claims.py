"""What the notes claim about what `convergence` measures, and the rules that decide."""

from lab.claims.evidence import Metric
from lab.claims.needs import real_images
from lab.claims.rules import FASTER, NOTES_BATCH, Rule, band_ratio, ratio
from lab.claims.verdicts import Claim

AS_MANY_EPOCHS = "x as many epochs"


def epochs(rule: str) -> list[Metric]:
    """Return the reads of the epochs to the target at the notes' batch, with their range over the
    seeds.
    """
    return [
        Metric("convergence", f"{rule}_batch_{NOTES_BATCH}_epochs{end}")
        for end in ("", "_low", "_high")
    ]


CLAIMS = (
    Claim(
        "G11a",
        "13.7",
        "001",
        "A larger batch needs more epochs for the same accuracy.",
        "Epochs to the target accuracy, the largest batch over the smallest, the rate kept; range"
        " over seeds.",
        ratio("convergence", "fixed_rate_large_batch_penalty", FASTER, AS_MANY_EPOCHS),
        "“More”: every seed by more than 2 %.",
        real_images("convergence"),
    ),
    Claim(
        "G11b",
        "13.7",
        "001",
        "At very large batches convergence suffers even if the rate is raised with the batch.",
        "The same with the rate scaled by the batch and warmed up.",
        ratio("convergence", "rate_x_batch_warm_up_large_batch_penalty", FASTER, AS_MANY_EPOCHS),
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
            " four times the"
            " rate; medians, interval from the ranges over seeds."
        ),
        Rule([*epochs("fixed_rate"), *epochs("rate_x_batch")], band_ratio, FASTER, AS_MANY_EPOCHS),
        "“Need”: the kept rate takes more than 2 % longer.",
        real_images("convergence"),
    ),
)
