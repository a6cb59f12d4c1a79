"""What the notes claim about what `parallelism` measures, and the rules that decide."""

from collections.abc import Sequence
from itertools import chain

from lab.claims.evidence import Metric
from lab.claims.needs import on_own_devices
from lab.claims.rules import (
    AS_FAST,
    FASTER,
    NEEDED,
    Estimate,
    Rule,
    at_least,
    at_most,
    farthest,
    median,
    near,
    point,
    speedup,
    values,
)
from lab.claims.verdicts import Claim, Kind, Unmeasured
from lab.results.stats import paired_ratios
from stages.parallelism.measure.names import (
    DATA,
    DENSE,
    INCEPTION_OVER_RESNET,
    LENET,
    NOTES_ALLREDUCE,
    PIPELINE,
    RESNET_OVER_ALEXNET,
    TENSOR,
)

ROUNDINGS = 1000.0  # of float64: a gradient is a sum of thousands of products


def held(replicas: Sequence[float], split: Sequence[float]) -> Estimate:
    """What replicas hold, over what a network that is split does."""
    return point(replicas[0] / split[0])


def smaller_ratio(*times: Sequence[float]) -> Estimate:
    """The smallest ratio over nets for each start; `times` are each net's two columns."""
    pairs = zip(times[::2], times[1::2], strict=True)
    ratios = [paired_ratios(one, other) for one, other in pairs]
    return median([min(of_start) for of_start in zip(*ratios, strict=True)])


def from_one(*columns: Sequence[float]) -> Estimate:
    """Of counted numbers, the one that lies farthest from 1."""
    return point(max(chain(*columns), key=lambda number: abs(number - 1)))


def smaller_factor(*factors: float) -> Estimate:
    """The smallest of the factors between neighbours of an order."""
    return point(min(factors))


CLAIMS = (
    Claim(
        "D1a",
        "13.5",
        Kind.SAID,
        "002:6-7",
        "For LeNet, which has no batch norm, the gradients of a batch's parts add up to the"
        " batch's gradient.",
        "LeNet, in float64: the most that the sum over devices differs from one device's gradient,"
        " relative to its largest number, for each number of devices.",
        Rule(
            [values("parallelism", "gradient", DATA)],
            farthest,
            at_most(ROUNDINGS),
            "float64 rounding units",
        ),
        "A thousand roundings of float64: sums of thousands of products in another order.",
    ),
    Claim(
        "D10",
        "13.5",
        Kind.SAID,
        "000:395 002:160",
        "Evaluating on one device, while the others idle, is rather inefficient.",
        "LeNet's labels of 512 images on one of two devices, over the time of both.",
        speedup(
            values("parallelism", "evaluation", "on one device"),
            values("parallelism", "evaluation", "on both devices"),
            at_least(NEEDED),
        ),
        "“Inefficient”: both take a tenth less time, or still less.",
        on_own_devices("parallelism"),
        about_gpus=True,
    ),
    Claim(
        "G7a",
        "13.5",
        Kind.SAID,
        "001:394 001:414",
        "Data parallelism usually performs better than model parallelism.",
        "Time of a step on two devices side by side at batch 256, model parallelism over data"
        " parallelism. LeNet is split into a pipeline of micro-batches, a net of four dense layers"
        " by shares of each layer; the smaller ratio counts.",
        Rule(
            [
                values("parallelism", "step", name, net=net)
                for net, kind in ((LENET, PIPELINE), (DENSE, TENSOR))
                for name in (kind, DATA)
            ],
            smaller_ratio,
            FASTER,
            AS_FAST,
        ),
        "“Usually”: of both nets, the second of which suits data parallelism least; more than 2 %"
        " faster.",
        on_own_devices("parallelism"),
        about_gpus=True,
    ),
    Claim(
        "G7b",
        "13.5",
        Kind.SAID,
        "001:408-409 001:415",
        "Model parallelism needs less memory on each device than replicas do, and so serves larger"
        " models.",
        "Four dense layers, nearly all parameters: bytes of parameters and gradients on the fuller"
        " of two devices, replicas over a pipeline.",
        Rule(
            [values("parallelism", "state", kind, devices="2.0") for kind in (DATA, PIPELINE)],
            held,
            FASTER,
            "times as many MB",
        ),
        "Less on each device by more than 2 %, whatever the batch. Counted while the step runs."
        " With activations, which grow with the batch, it can be the other way round, as for"
        " LeNet.",
    ),
    Claim(
        "G10m",
        "13.7",
        Kind.SAID,
        "001:448",
        "For m parameters each worker but the one that adds sends m numbers and receives m in a"
        " step.",
        "Bytes that a device other than the adding one sends or receives in the notes' all-reduce"
        " of LeNet's gradient, over the gradient's, for each number of devices: the one farthest"
        " from 1.",
        Rule(
            [values("parallelism", "others move", NOTES_ALLREDUCE)],
            from_one,
            near(1, 0),
            "times the gradient",
        ),
        "As many as the gradient has; counted. The one that adds sends and receives as much for"
        " each of the others.",
    ),
    Claim(
        "G12a",
        "13.7",
        Kind.SAID,
        "001:461-462",
        "Inception computes most per parameter, then ResNet, then AlexNet.",
        (
            "The smaller of the two factors between neighbours in training FLOP per byte of"
            " parameters, the closest pair of each (GoogLeNet and Inception v3, ResNet-18 and"
            " -50)."
        ),
        Rule(
            [Metric("parallelism", name) for name in (INCEPTION_OVER_RESNET, RESNET_OVER_ALEXNET)],
            smaller_factor,
            FASTER,
            "times the next network's",
        ),
        "An order: each more than 2 % over the next. Counted, on each network's own image size.",
    ),
)

UNMEASURED = (
    Unmeasured(
        "001:386",
        "Of the ways to split the work, data parallelism is the main one.",
        "How often each is used in the world is no measurement of a machine.",
    ),
)
