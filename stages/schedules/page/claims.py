"""What the notes claim about what `schedules` measures, and the rules that decide."""

from lab.claims.needs import REAL_IMAGES, Need
from lab.claims.rules import FASTER, Rule, at_most
from lab.claims.verdicts import Claim, Kind
from lab.results.stats import PERCENT

STAGE = "schedules"
NOTES_WARM_UP = 25  # percent of a run: 5 of 20 epochs

real = REAL_IMAGES
with_resnet18 = (
    *real,
    Need(
        "training of ResNet-18",
        "nets",
        ("lenet resnet18",),
        "the profiles `study` and `full` train it",
    ),
)


CLAIMS = (
    Claim(
        "F20a",
        "12.11",
        Kind.SAID,
        "001:326",
        "A high rate makes training diverge at its very start.",
        "How far into a run without warm-up LeNet collapses for good, in percent of the run, at"
        " the lowest rate that bisection found to diverge.",
        Rule("divergence_onset", at_most(NOTES_WARM_UP), PERCENT),
        "“At the start”: within what the notes' warm-up covers, a quarter of the run.",
        real,
    ),
    Claim(
        "F20b",
        "12.11",
        Kind.SAID,
        "001:329",
        "Warm-up lets LeNet train at a higher rate without diverging.",
        "LeNet's highest rate that does not diverge, by bisection: with the notes' warm-up,"
        " relative to without.",
        Rule("lenet_warm_up_gain", FASTER),
        "“Higher”: by more than 2 %.",
        real,
    ),
    Claim(
        "F20f",
        "12.11",
        Kind.ASKED,
        "001:326",
        "Without warm-up ResNet-18 diverges at lower rates than LeNet.",
        "Highest rate that does not diverge without warm-up, by bisection: LeNet's relative to"
        " ResNet-18's.",
        Rule("lenet_over_resnet18", FASTER),
        "“Especially”: it diverges at rates that the plain net bears, by more than 2 %.",
        with_resnet18,
    ),
    Claim(
        "F20g",
        "12.11",
        Kind.SAID,
        "001:326-329",
        "Warm-up lets an advanced design, ResNet-18, train at a higher rate without diverging.",
        "ResNet-18's highest rate that does not diverge, by bisection: with the notes' warm-up,"
        " relative to without.",
        Rule("resnet18_warm_up_gain", FASTER),
        "“No longer”: higher rates by more than 2 %.",
        with_resnet18,
    ),
)
