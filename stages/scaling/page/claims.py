"""What the notes claim about what `scaling` measures, and the rules that decide."""

from collections.abc import Sequence

from lab.claims.evidence import Column
from lab.claims.needs import on_own_devices
from lab.claims.rules import (
    AS_FAST,
    AS_LONG,
    FASTER,
    NEEDED,
    Estimate,
    Rule,
    at_least,
    at_most,
    speedup,
    times_ratio,
    values,
)
from lab.claims.verdicts import Claim, Front, Kind, Unmeasured

CLEARLY = 2.0  # times as long: what nobody would call about as long
OWN_DEVICES = on_own_devices("scaling")


def at_notes_batch(net: str, name: str) -> Column:
    """A part of a net's step at the notes' batch, a time of each start."""
    return values("scaling", "notes' batch", name, net=net)


def over_the_longer(t1: Sequence[float], t2: Sequence[float], step: Sequence[float]) -> Estimate:
    """The step over the longer of t1 and t2, start by start."""
    return times_ratio(step, [max(parts) for parts in zip(t1, t2, strict=True)])


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
        speedup(
            at_notes_batch("resnet18", "whole batch on one device"),
            at_notes_batch("resnet18", "step"),
            FASTER,
            AS_FAST,
        ),
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
        speedup(
            at_notes_batch("resnet18", "computing"),
            at_notes_batch("resnet18", "summing alone"),
            at_least(CLEARLY),
            AS_LONG,
        ),
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
        speedup(
            values("scaling", "efficiency", "resnet18"),
            values("scaling", "efficiency", "lenet"),
            FASTER,
            "times as efficient",
        ),
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
        Rule(
            [at_notes_batch("lenet", name) for name in ("computing", "summing alone", "step")],
            over_the_longer,
            at_most(NEEDED),
            "times the longer part",
            possible=at_least(1 / NEEDED),
        ),
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
        speedup(
            at_notes_batch("lenet", "computing"),
            at_notes_batch("lenet", "summing alone"),
            FASTER,
            AS_LONG,
        ),
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
