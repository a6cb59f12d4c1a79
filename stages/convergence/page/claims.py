"""What the notes claim about what `convergence` measures, and the rules that decide."""

from lab.claims.needs import REAL_IMAGES, Need
from lab.claims.rules import FASTER, NEEDED, Rule, at_least, at_most
from lab.claims.verdicts import Claim, Front, Kind
from lab.results.stats import SMALLEST_EFFECT
from stages.convergence.findings import VERY_LARGE
from stages.convergence.measure.names import STEMS

STAGE = "convergence"
FEWER = at_most(100 / (1 + SMALLEST_EFFECT))

real = REAL_IMAGES
at_very_large = (
    *real,
    Need(
        "batches of 4096 images",
        "lenet_tuned_batch",
        (VERY_LARGE,),
        "the profiles `study` and `full` train at them",
    ),
)
with_both_stems = (
    *real,
    Need(
        "training with both stems",
        "stems",
        (" ".join(STEMS),),
        "the profiles `study` and `full` train with them",
    ),
)

CLAIMS = (
    Claim(
        "G11a",
        "13.7",
        Kind.SAID,
        "001:452",
        "At an unchanged learning rate, a larger batch, by more images on each worker or by more"
        " workers, takes more epochs to the same accuracy.",
        "Epochs to the target accuracy at batch 64 in percent of those at 256, with the same"
        " learning rate and the same seed; where the larger batch did not get there in time, at"
        " most that.",
        Rule("small_batch_share", FEWER),
        "“More”: by over 2 %.",
        real,
        front=Front(
            12,
            "Larger batches cost no extra epochs here: at an unchanged learning "
            "rate, batches of 64 take {number}% of the epochs that batches of "
            "256 take.",
        ),
    ),
    Claim(
        "G11b",
        "13.7",
        Kind.SAID,
        "001:684",
        "With very large batches convergence becomes inefficient, which needs attention.",
        "Epochs to the target accuracy at batch 64 in percent of those at 4096, with momentum,"
        " each at the best learning rate that other seeds found.",
        Rule("tuned_small_batch_share", at_most(100 / NEEDED)),
        "“Inefficient”: a tenth more epochs, or more, although the learning rate is the best for"
        " that batch.",
        at_very_large,
    ),
    Claim(
        "D2a",
        "13.5",
        Kind.SAID,
        "000:261",
        "A batch that is enlarged for more devices may need a higher learning rate.",
        "Epochs to the target accuracy at batch 256 with four times the learning rate of batch"
        " 64, in percent of those with the same learning rate.",
        Rule("scaled_rate_share", FEWER),
        "“Need”: the unchanged learning rate takes over 2 % longer.",
        real,
    ),
    Claim(
        "G12d",
        "13.7",
        Kind.SAID,
        "001:463",
        "A sufficiently large batch makes the system faster.",
        "Images per second of LeNet's training step on one device: at the notes' batch of 256"
        " relative to a batch of 16, measured alternately.",
        Rule("batch_speedup", FASTER),
        "“Faster”: than the small batch by more than 2 %.",
    ),
    Claim(
        "G12k",
        "13.7",
        Kind.SAID,
        "001:464",
        "Large batches need an optimizer that suits them.",
        "Epochs to the target accuracy at batch 4096: LARS's in percent of those of SGD with"
        " momentum, each at the best learning rate that other seeds found.",
        Rule("lars_share", FEWER),
        "“Suits”: fewer epochs by over 2 %.",
        at_very_large,
    ),
    Claim(
        "G13c",
        "13.7",
        Kind.ASKED,
        "001:685",
        "Gradients three steps old, as four asynchronous workers bring them, cost accuracy.",
        "Test accuracy after equally many images at batch 64, in percentage points: with fresh"
        " gradients minus with those three steps old.",
        Rule("stale_cost", at_least(1)),
        "“Cost”: a point or more.",
        real,
    ),
    Claim(
        "E2b",
        "13.6",
        Kind.SAID,
        "000:445",
        "Small images need a smaller kernel, stride and padding at ResNet-18's start, and no"
        " max-pooling.",
        "Test accuracy after equally many images of 28 x 28 pixels, at the same learning rate and"
        " the same seed, in percentage points: with the notes' stem (a 3 x 3 convolution of stride"
        " 1) minus with the original one (a 7 x 7 convolution of stride 2, max-pooling of stride"
        " 2).",
        Rule("small_stem_gain", at_least(1)),
        "“Need”: a point or more.",
        with_both_stems,
    ),
)
