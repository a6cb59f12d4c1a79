"""What the notes claim about what `scaling` measures, and the rules that decide."""

from lab.claims.needs import ON_OWN_DEVICES
from lab.claims.rules import FASTER, NEEDED, Rule, at_least, at_most
from lab.claims.verdicts import Claim, Front, Kind, Unmeasured

CLEARLY = 2.0  # times as long: what nobody would call about as long
OWN_DEVICES = ON_OWN_DEVICES


CLAIMS = (
    Claim(
        "E5a",
        "13.6",
        Kind.SAID,
        "000:555",
        "ResNet-18 is where parallel training shows its advantage.",
        "Step of one process over that of two, half of the notes' batch of 512 each, gradients"
        " summed as in the notes. Without GPUs both are read off a line through steps of a few"
        " images, 3 at most in the profile `laptop`.",
        Rule("resnet18_speedup", FASTER),
        "“Advantage”: the whole interval over 1.02.",
        OWN_DEVICES,
        about_gpus=True,
    ),
    Claim(
        "E5c",
        "13.6",
        Kind.SAID,
        "000:555",
        "ResNet-18 takes clearly longer to compute than to synchronise its parameters.",
        "Computing half of the notes' batch of 512 relative to summing the gradients by themselves"
        " as in the notes, in two processes; after a computation summing takes longer. Without GPUs"
        " computing is read off a line through steps of a few images, 3 at most in the profile"
        " `laptop`.",
        Rule("resnet18_over_summing", at_least(CLEARLY)),
        "“Clearly longer”: at least twice as long.",
        OWN_DEVICES,
        about_gpus=True,
    ),
    Claim(
        "E5d",
        "13.6",
        Kind.SAID,
        "000:555",
        "What parallel training costs weighs less with ResNet-18: it scales better than LeNet.",
        "Computing's share of a step in two processes with 128 images each, ResNet-18's over"
        " LeNet's.",
        Rule("resnet18_over_lenet", FASTER),
        "“Better”: the whole interval over 1.02.",
        OWN_DEVICES,
        about_gpus=True,
    ),
    Claim(
        "G10a",
        "13.7",
        Kind.ASKED,
        "001:447-450",
        "Between processes, a step by the notes' code takes as long as the longer of computing and"
        " communicating.",
        "LeNet in two processes at the notes' batch, gradients summed as in the notes: the step"
        " over the longer of its two parts, all measured alternately.",
        Rule("over_longer", at_most(NEEDED), possible=at_least(1 / NEEDED)),
        "“As long as”: at most a tenth longer. The notes' code computes, then communicates: the"
        " step takes as long as both together.",
        OWN_DEVICES,
        about_gpus=True,
        front=Front(
            10,
            "A step of the notes' code does not take max(t₁, t₂): it computes "
            "first and communicates afterwards, and takes {number}× as long as "
            "the longer part.",
        ),
    ),
    Claim(
        "G10b",
        "13.7",
        Kind.SAID,
        "001:451",
        "A batch can be large enough that computing takes longer than communicating.",
        "LeNet in two processes at the notes' batch of 256: computing relative to summing the"
        " gradients by themselves as in the notes; after a computation summing takes longer.",
        Rule("lenet_over_summing", FASTER),
        "“Longer”: the whole interval over 1.02. No larger batch is needed if the notes' own will"
        " do.",
        OWN_DEVICES,
        about_gpus=True,
    ),
)

UNMEASURED = (
    Unmeasured(
        "001:683",
        "Communication is usually what limits training on several devices.",
        "It is said of networks between machines: two processes of one machine, which the lab"
        " times, decide nothing of them.",
    ),
    Unmeasured(
        "001:685",
        "More complex distributed training is asynchronous, or splits the model.",
        "It names kinds of training, and says of neither what it does.",
    ),
)
