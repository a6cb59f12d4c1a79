"""What the notes claim about what `train` measures, and the rules that decide."""

from lab.claims.evidence import Column, Metric
from lab.claims.needs import Need, real_images
from lab.claims.rules import Over, at_least, difference, near, samples
from lab.claims.verdicts import Claim, Kind
from stages.train.measure.names import TEST_ACCURACY

BOOK_SHARE, SAME_SHARE = 0.91, 0.02  # of the test images; the book calls 0.83 and 0.84 the same
LAST_EPOCH = "10.0"  # in rows.csv
EVERY_IMAGE = 60_000
WORKLOAD = "the notes' workload"


def final_accuracy(run: str) -> Column:
    """The share of test images that a run labels correctly in the end: one sample, of one seed."""
    return Column(f"train/{run}", TEST_ACCURACY, {"epoch": LAST_EPOCH})


def as_in_the_notes(run: str, **settings: str | float) -> tuple[Need, ...]:
    """The settings that a training run must have had; the profile `full` has the notes'."""
    remedy = "the profile `full` trains as the notes do"
    return tuple(
        Need(WORKLOAD, Metric(f"train/{run}", name), (wanted,), remedy)
        for name, wanted in settings.items()
    )


RESNET: dict[str, str | float] = {
    "net": "resnet18",
    "precision": "fp32",
    "train_images": EVERY_IMAGE,
    "num_epochs": 10,
}
ONE_RESNET = (
    *real_images("train/resnet18_1gpu"),
    *as_in_the_notes("resnet18_1gpu", num_devices=1, batch_size=256, lr=0.1, **RESNET),
)
TWO_RESNETS = as_in_the_notes("resnet18_2gpu", num_devices=2, batch_size=512, lr=0.2, **RESNET)


CLAIMS = (
    Claim(
        "E4",
        "13.6",
        Kind.PRINTED,
        "book:13.6",
        "ResNet-18 on one device, batch 256 and rate 0.1, ends at an accuracy of 0.91.",
        "Share of the test images labelled correctly after ten epochs; one run is one seed, and"
        " that decides nothing.",
        samples(
            final_accuracy("resnet18_1gpu"),
            near(BOOK_SHARE, SAME_SHARE),
            "of the test images",
            Over.SEEDS,
        ),
        "Readers and editions print 0.90 to 0.93 for this recipe: two points.",
        ONE_RESNET,
    ),
    Claim(
        "E5b",
        "13.6",
        Kind.ASKED,
        "000:261 000:558 002:332",
        "Two devices at twice the batch and rate learn as well as one.",
        "Share of test images labelled correctly after ten epochs on two devices (512, 0.2) less"
        " that on one (256, 0.1); one pair of runs is one seed, and that decides nothing.",
        difference(
            final_accuracy("resnet18_2gpu"),
            final_accuracy("resnet18_1gpu"),
            at_least(-SAME_SHARE),
            "of the test images",
            Over.SEEDS,
        ),
        "At most two points less. The book's own runs print 0.73 against 0.91.",
        (*ONE_RESNET, *TWO_RESNETS),
    ),
)
