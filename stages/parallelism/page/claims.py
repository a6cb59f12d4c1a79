"""What the notes claim about what `parallelism` measures, and the rules that decide."""

from collections.abc import Callable, Sequence
from itertools import chain

from lab.claims.evidence import Column, Metric
from lab.claims.needs import on_own_devices
from lab.claims.rules import (
    FASTER,
    NOTES_BATCH,
    Estimate,
    Range,
    Rule,
    at_least,
    at_most,
    farthest,
    near,
    point,
    series,
    speedup,
)
from lab.claims.verdicts import Claim, Kind, Unmeasured
from stages.parallelism.measure import names
from stages.parallelism.measure.names import (
    DATA,
    DIFFERENCE_EPS,
    INCEPTION_OVER_RESNET,
    LEAST_PARAMS_MB,
    MOVED_MB,
    ONE,
    PIPELINE,
    RESNET_OVER_ALEXNET,
    TENSOR,
    WIDE_STATE_MB,
    on_devices,
)

ROUNDINGS = 1000.0  # of float64: a gradient is a sum of thousands of products
OF_ONE_DEVICE = "times those of one device"


def moved(replicas: Sequence[float], *split: Sequence[float]) -> Estimate:
    """What the better way to split the network moves, over what replicas do."""
    return point(min(mb for [mb] in split) / replicas[0])


def at_notes_batch(estimate: Callable[..., Estimate], demo: str) -> Rule:
    """The rule that compares replicas on two devices with a network that is split over them."""
    reads = [
        Column(
            "parallelism",
            "y",
            {"demo": demo, "series": on_devices(kind, 2), "x": f"{NOTES_BATCH}.0"},
        )
        for kind in (DATA, PIPELINE, TENSOR)
    ]
    return Rule(reads, estimate, FASTER, "times as many MB")


def of_two_devices(demo: str, name: str) -> Column:
    """The read of a number on two devices."""
    return Column("parallelism", "y", {"demo": demo, "series": name, "x": "2.0"})


def held(replicas: Sequence[float], split: Sequence[float]) -> Estimate:
    """What replicas hold, over what a network that is split does."""
    return point(replicas[0] / split[0])


def time_over_data(demo: str, kind: str, holds: Range = FASTER) -> Rule:
    """The rule on how many times faster data parallelism takes a step, start by start."""
    return speedup(series("parallelism", demo, kind), series("parallelism", demo, DATA), holds)


def fewest(several: Sequence[float], one: Sequence[float]) -> Estimate:
    """What the device with fewest parameters holds, over what one device does."""
    return point(min(several) / one[0])


def busiest(numbers: Sequence[float]) -> Estimate:
    """The largest of counted numbers."""
    return point(max(numbers))


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
        "The gradients of the parts of a batch, added up, are the batch's gradient.",
        "LeNet, in float64: the most that the sum over devices differs from one device's gradient,"
        " relative to its largest number, for each number of devices.",
        Rule(
            [series("parallelism", DIFFERENCE_EPS, f"{DATA}, * devices")],
            farthest,
            at_most(ROUNDINGS),
            "float64 rounding units",
        ),
        "A thousand roundings of float64: sums of thousands of products in another order.",
    ),
    Claim(
        "D1b",
        "13.5",
        Kind.SAID,
        "002:9 001:392",
        "In data parallelism each GPU keeps the complete set of parameters.",
        "Bytes of parameters on the device that has fewest while a step runs, over those of one"
        " device, for each number of devices.",
        Rule(
            [
                series("parallelism", LEAST_PARAMS_MB, f"{DATA}, * devices"),
                series("parallelism", LEAST_PARAMS_MB, ONE),
            ],
            fewest,
            near(1, 0),
            OF_ONE_DEVICE,
        ),
        "All of them; counted.",
    ),
    Claim(
        "D2d",
        "13.5",
        Kind.SAID,
        "000:261",
        "With k times the batch on k GPUs each has the work of one GPU alone.",
        "LeNet's FLOP on the largest and on the smallest of k shards of k · 256 images, over those"
        " of 256 images: the one farther from 1.",
        Rule(
            [
                series("parallelism", names.SHARE_OF_FLOP, each)
                for each in (names.LARGEST_SHARD, names.SMALLEST_SHARD)
            ],
            from_one,
            near(1, 0),
            OF_ONE_DEVICE,
        ),
        "The same work: counted, of a forward and a backward pass.",
    ),
    Claim(
        "D6h",
        "13.5",
        Kind.SAID,
        "002:75",
        "What an all-reduce adds up has to be added on one GPU.",
        "Share of the additions that the busiest of two devices does in an all-reduce in which"
        " each adds a part; it must give every device the same sum.",
        Rule(
            [of_two_devices(names.BUSIEST_ADDS, names.SHARDED_ALLREDUCE)],
            point,
            near(100, 0),
            "% of the additions",
        ),
        "On one device: all of them. It need not be so, if less gives the sum.",
    ),
    Claim(
        "D10b",
        "13.5",
        Kind.ASKED,
        "000:395 002:160",
        "Evaluating on all devices is faster than on one while the others idle.",
        "LeNet's labels of 512 images on one of two devices, over the time of both.",
        speedup(
            series("parallelism", names.EVALUATION_MS, names.ON_ONE),
            series("parallelism", names.EVALUATION_MS, names.ON_BOTH),
            FASTER,
        ),
        "“Inefficient”: more than 2 % slower.",
        on_own_devices("parallelism"),
    ),
    Claim(
        "G7a",
        "13.5",
        Kind.SAID,
        "001:394",
        "Data parallelism usually performs better than model parallelism.",
        "LeNet, batch 256, two devices side by side: time of a step of a pipeline of micro-batches"
        " over that of data parallelism.",
        time_over_data(names.LENET_STEP_MS, PIPELINE),
        "“Better”: more than 2 % faster. The pipeline has micro-batches, which the notes' model"
        " parallelism lacks.",
        on_own_devices("parallelism"),
    ),
    Claim(
        "G7c",
        "13.5",
        Kind.SAID,
        "001:394",
        "Data parallelism usually performs better than channel parallelism.",
        "LeNet, batch 256, two devices side by side: time of a tensor-parallel step over that of"
        " data parallelism.",
        time_over_data(names.LENET_STEP_MS, TENSOR),
        "“Better”: more than 2 % faster.",
        on_own_devices("parallelism"),
    ),
    Claim(
        "G7d",
        "13.5",
        Kind.SAID,
        "001:414",
        "A model that one card can compute is usually trained on several by data parallelism.",
        "Four dense layers, nearly all parameters, which suits data parallelism least: time of a"
        " tensor-parallel step at batch 256 over that of data parallelism.",
        time_over_data(names.WIDE_STEP_MS, TENSOR, at_least(1 / FASTER.low)),
        "The choice is right, if it is not slower by more than 2 %.",
        on_own_devices("parallelism"),
    ),
    Claim(
        "G7e",
        "13.5",
        Kind.ASKED,
        "001:394",
        "Splitting the batch makes devices exchange less than splitting the network.",
        "LeNet, batch 256, two devices: bytes moved by a pipeline or by tensor parallelism,"
        " whichever moves less, over those of data parallelism.",
        at_notes_batch(moved, MOVED_MB),
        "“Less”: more than 2 % between them. Bytes are counted, so there is no interval.",
    ),
    Claim(
        "G7b",
        "13.5",
        Kind.SAID,
        "001:408-409 001:415",
        "Model parallelism serves models that are too large for one GPU.",
        "Four dense layers, nearly all parameters: bytes of parameters and gradients on the fuller"
        " of two devices, replicas over a pipeline.",
        Rule(
            [of_two_devices(WIDE_STATE_MB, kind) for kind in (DATA, PIPELINE)],
            held,
            FASTER,
            "times as many MB",
        ),
        "Less on each device by more than 2 %, whatever the batch. Counted while the step runs.",
    ),
    Claim(
        "G10m",
        "13.7",
        Kind.SAID,
        "001:448",
        "For m parameters a worker sends m numbers and receives m in each step.",
        "Bytes that a device other than the adding one sends or receives in the notes' all-reduce"
        " of LeNet's gradient, over the gradient's, for each number of devices: the one farthest"
        " from 1.",
        Rule(
            [series("parallelism", names.OTHERS_MOVE, names.NOTES_ALLREDUCE)],
            from_one,
            near(1, 0),
            "times the gradient",
        ),
        "As many as the gradient has; counted.",
    ),
    Claim(
        "G10n",
        "13.7",
        Kind.ASKED,
        "001:448 002:75",
        "No device sends more than the gradient in the notes' all-reduce.",
        "Bytes that the busiest device sends, over the gradient's, at most, over the numbers of"
        " devices.",
        Rule(
            [series("parallelism", names.MOST_SENT, names.NOTES_ALLREDUCE)],
            busiest,
            at_most(1),
            "times the gradient",
        ),
        "Counted. The device that adds sends the sum to each of the others.",
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
