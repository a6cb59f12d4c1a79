"""What the notes claim about what `scaling` measures, and the rules that decide."""

from collections.abc import Sequence

from lab.claims.evidence import Column, Metric
from lab.claims.needs import on_own_devices
from lab.claims.rules import (
    AS_FAST,
    AS_LONG,
    FASTER,
    Estimate,
    Rule,
    arm,
    at_least,
    median,
    near,
    point,
    speedup,
)
from lab.claims.verdicts import Claim, Kind, Unmeasured
from stages.scaling.measure import names

CLEARLY = 2.0  # times as long: what nobody would call about as long
OWN_DEVICES = on_own_devices("scaling")


def at_notes_batch(net: str, name: str) -> Column:
    """An arm at the notes' batch, a time of each start."""
    return arm("scaling", names.at_notes_batch(net), name)


def of_net(demo: str, net: str) -> Column:
    """A demo whose arms are the nets."""
    return arm("scaling", demo, net)


def hidden(t1: Sequence[float], t2: Sequence[float], step: Sequence[float]) -> Estimate:
    """How much of the shorter of t1 and t2 the step hides, in percent: all for max, 0 for t1 + t2.

    It does not depend on how much longer the longer one is, as the error of max(t1, t2) does.
    """
    times = zip(t1, t2, step, strict=True)
    return median([100 * (a + b - whole) / min(a, b) for a, b, whole in times])


def communication(computing: Sequence[float], step: Sequence[float]) -> Estimate:
    """The share of a step that is not computing, in percent."""
    return median([100 * (b - a) / b for a, b in zip(computing, step, strict=True)])


def of_the_ideal(
    num_devices: float, whole_batch: Sequence[float], computing: Sequence[float]
) -> Estimate:
    """How many times as fast the devices compute, in percent of their number."""
    return median([100 * a / b / num_devices for a, b in zip(whole_batch, computing, strict=True)])


def lowest(numbers: Sequence[float]) -> Estimate:
    """The lowest of numbers that do not vary."""
    return point(min(numbers))


def more_flop(network: Sequence[float], other: Sequence[float]) -> Estimate:
    """The FLOP for each parameter of a network over those of another; counted."""
    [[a], [b]] = network, other
    return point(a / b)


def rule_of_max(net: str, t2: str, step: str) -> Rule:
    """The rule that a step hides the shorter of computing and communicating."""
    reads = [at_notes_batch(net, name) for name in (names.COMPUTING, t2, step)]
    return Rule(reads, hidden, at_least(90), "% of the shorter part hidden")


CLAIMS = (
    Claim(
        "E1b",
        "13.6",
        Kind.SAID,
        "000:445",
        "ResNet-18 is a more meaningful network than LeNet to train on several devices.",
        "Training FLOP for each parameter, ResNet-18 over LeNet, counted on a 28 x 28 image.",
        Rule(
            [of_net(names.FLOP_PER_PARAMETER, net) for net in ("resnet18", "lenet")],
            more_flop,
            FASTER,
            "times the FLOP per parameter",
        ),
        "“More”: over 2 %. What is computed for each number that is sent is what devices share.",
    ),
    Claim(
        "E5a",
        "13.6",
        Kind.SAID,
        "000:555",
        "ResNet-18 is where parallel training shows its advantage.",
        "Step of one process over that of two, half of the notes' batch of 512 each, gradients"
        " summed as in the notes; between processes, and from the steps of smaller batches, where"
        " there are no GPUs.",
        speedup(
            at_notes_batch("resnet18", names.WHOLE_BATCH),
            at_notes_batch("resnet18", names.STEP),
            FASTER,
            AS_FAST,
        ),
        "“Advantage”: the whole interval over 1.02.",
        OWN_DEVICES,
    ),
    Claim(
        "E5c",
        "13.6",
        Kind.SAID,
        "000:555",
        "ResNet-18 takes clearly longer to compute than to synchronise its parameters.",
        "Computing half of the notes' batch of 512 over summing the gradients as in the notes, in"
        " two processes; from the steps of smaller batches where there are no GPUs.",
        speedup(
            at_notes_batch("resnet18", names.COMPUTING),
            at_notes_batch("resnet18", names.SUMMING),
            at_least(CLEARLY),
            AS_LONG,
        ),
        "“Clearly longer”: at least twice as long.",
        OWN_DEVICES,
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
            of_net(names.EFFICIENCY, "resnet18"),
            of_net(names.EFFICIENCY, "lenet"),
            FASTER,
            "times as efficient",
        ),
        "“Better”: the whole interval over 1.02.",
        OWN_DEVICES,
    ),
    Claim(
        "G8a",
        "13.7",
        Kind.SAID,
        "001:423 001:682",
        "Distributed training is basically what several devices of one machine do.",
        "Steps of processes that only exchange messages after which all have the weights that"
        " replicas in one process have; 0 if any has not.",
        Rule(
            [arm("scaling", names.SAME_WEIGHTS, "*")],
            lowest,
            near(1, 0),
            "(1: the same weights after every step)",
        ),
        "The same step gives the same weights, but for rounding.",
    ),
    Claim(
        "G9b",
        "13.7",
        Kind.SAID,
        "001:443",
        "In the ideal case n devices are n times as fast as one.",
        "LeNet's batch of 256 on one device over half of it on each of two at once, without"
        " communication, in percent of two times.",
        Rule(
            [
                Metric("scaling", names.WORLD_SIZE),
                at_notes_batch("lenet", names.WHOLE_BATCH),
                at_notes_batch("lenet", names.COMPUTING),
            ],
            of_the_ideal,
            at_least(90),
            "% of the ideal speed",
        ),
        "A tenth less than n times is no longer n times.",
        OWN_DEVICES,
    ),
    Claim(
        "G10a",
        "13.7",
        Kind.SAID,
        "001:447-450",
        "A step takes as long as the longer of computing and communicating.",
        "LeNet in two processes at the notes' batch, gradients summed as in the notes: how much of"
        " the shorter one is hidden behind the longer, all measured in turn.",
        rule_of_max("lenet", names.SUMMING, names.STEP),
        "max(t1, t2) hides all of the shorter one, t1 + t2 nothing: at least nine tenths.",
        OWN_DEVICES,
    ),
    Claim(
        "G10c",
        "13.7",
        Kind.ASKED,
        "001:450",
        "Where sums begin during the backward pass, a step takes as long as the longer of both.",
        "The same of ResNet-18 and DistributedDataParallel; communicating is the library's sum of"
        " one bucket.",
        rule_of_max("resnet18", names.BUCKET_ALONE, names.OVERLAPPED_STEP),
        "max(t1, t2) hides all of the shorter one, t1 + t2 nothing: at least nine tenths.",
        OWN_DEVICES,
    ),
    Claim(
        "G10b",
        "13.7",
        Kind.SAID,
        "001:451",
        "A batch can be large enough that computing takes longer than communicating.",
        "LeNet in two processes at the notes' batch of 256: computing over summing the gradients as"
        " in the notes.",
        speedup(
            at_notes_batch("lenet", names.COMPUTING),
            at_notes_batch("lenet", names.SUMMING),
            FASTER,
            AS_LONG,
        ),
        "“Longer”: the whole interval over 1.02. No larger batch is needed if the notes' own will"
        " do.",
        OWN_DEVICES,
    ),
    Claim(
        "G12h",
        "13.7",
        Kind.SAID,
        "001:461",
        "A model needs a good ratio of computing to what it communicates.",
        "LeNet's step in two processes at the notes' batch with gradients 16 times as large, over"
        " the step as it is: the same computing.",
        speedup(
            at_notes_batch("lenet", names.LARGER),
            at_notes_batch("lenet", names.STEP),
            FASTER,
            AS_LONG,
        ),
        "The notes' examples, Inception and AlexNet, differ by about as much: that must cost more"
        " than 2 % of the step.",
        OWN_DEVICES,
    ),
    Claim(
        "G13",
        "13.7",
        Kind.SAID,
        "001:683",
        "Communication is usually what limits training on several devices.",
        "What LeNet's step at the notes' batch takes beyond computing, between processes of one"
        " machine, in percent of the step.",
        Rule(
            [at_notes_batch("lenet", name) for name in (names.COMPUTING, names.STEP)],
            communication,
            at_least(50),
            "% of a step",
        ),
        "What limits a step takes at least half of it.",
        OWN_DEVICES,
    ),
)

UNMEASURED = (
    Unmeasured(
        "001:685",
        "More complex distributed training is asynchronous, or splits the model.",
        "It names kinds of training, and says of neither what it does.",
    ),
)
