"""What the notes claim about what `scaling` measures, and the rules that decide."""

from lab.claims.evidence import Metric
from lab.claims.needs import on_two_gpus
from lab.claims.rules import NOTES_BATCH, Estimate, Rule, at_least, at_most, point, value
from lab.claims.verdicts import Claim
from stages.scaling import names

GOOD_PERCENT = 10.0  # mean error up to which a rule of thumb predicts a step


def share_of_communication(
    fixed_ms: float, us_per_image: float, t2_ms: float, num_devices: float
) -> Estimate:
    """The share of a step at the notes' batch that is communication, in percent."""
    t1 = fixed_ms + us_per_image / 1e3 * NOTES_BATCH / num_devices
    return point(100 * t2_ms / (t1 + t2_ms))


CLAIMS = (
    Claim(
        "G10a",
        "13.7",
        "001",
        "A step takes as long as the longer of computing and communicating.",
        "Mean error of max(t1, t2) against the measured steps of two processes.",
        value(Metric("scaling", names.MAX_RULE_MEAN_ERROR), at_most(GOOD_PERCENT), "% off"),
        "A rule that is off by more than a tenth does not say how long a step takes.",
    ),
    Claim(
        "G10b",
        "13.7",
        "001",
        "With the notes' batch LeNet computes for longer than it communicates.",
        "Batch over two devices from which on t1 is longer than t2, gradients summed as in the"
        " notes.",
        value(Metric("scaling", names.LENET_CROSSING), at_most(NOTES_BATCH), "images"),
        "The notes choose the batch so that t1 > t2, and train with 256.",
    ),
    Claim(
        "G13",
        "13.7",
        "001",
        "Communication is what mostly limits training on several devices.",
        "Share of communication in LeNet's step at batch 256, gradients summed as in the notes.",
        Rule(
            [
                Metric("scaling", name)
                for name in (
                    names.LENET_FIXED,
                    names.LENET_PER_IMAGE,
                    names.LENET_T2,
                    names.WORLD_SIZE,
                )
            ],
            share_of_communication,
            at_least(50),
            "% of a step",
        ),
        "“Mostly”: half of the time, by the parts that the stage measures.",
        on_two_gpus("scaling"),
    ),
)
