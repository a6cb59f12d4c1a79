"""What the notes claim about what `bench_input` measures, and the rules that decide."""

from lab.claims.needs import ON_TWO_GPUS
from lab.claims.rules import NEEDED, Rule, at_least
from lab.claims.verdicts import Claim, Front, Kind, Unmeasured

CLAIMS = (
    Claim(
        "D12p",
        "13.5",
        Kind.SAID,
        "000:427",
        "The simple way of training LeNet on two GPUs suffers from a huge overhead of Python and"
        " the framework.",
        "Share of the notes' step (two shards, sequentially) that its calls take without"
        " their arithmetic: on one channel and one image a shard.",
        Rule("calls_percent", at_least(50)),
        "“Huge”: half of a step or more. What the framework does around its kernels is also in it.",
        ON_TWO_GPUS,
    ),
    Claim(
        "G12b",
        "13.7",
        Kind.SAID,
        "001:460",
        "Training needs its data read and preprocessed efficiently.",
        "LeNet's step with images read and preprocessed one by one, without workers that would take"
        " cores from it, over the step with resident images.",
        Rule("no_workers_step", at_least(NEEDED)),
        "“Needs”: images read one by one make a step take a tenth longer, or more.",
        front=Front(
            14,
            "Reading images one by one hardly slows LeNet's training down: a "
            "step takes {number}× as long as with the images in memory.",
        ),
    ),
)

UNMEASURED = (
    Unmeasured(
        "000:427",
        "The data set, too, is too small for two devices to be worthwhile.",
        "A step takes the same time however many an epoch has: only the start of the loader's"
        " workers weighs less in a longer epoch. It needs a larger data set on two GPUs.",
    ),
)
