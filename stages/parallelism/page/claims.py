"""What the notes claim about what `parallelism` measures, and the rules that decide."""

from lab.claims.needs import ON_OWN_DEVICES
from lab.claims.rules import FASTER, NEEDED, Rule, at_least, at_most, near
from lab.claims.verdicts import Claim, Kind, Unmeasured

ROUNDINGS = 1000.0  # of float64: a gradient is a sum of thousands of products


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
        Rule("data_parallel_difference", at_most(ROUNDINGS)),
        "A thousand roundings of float64: sums of thousands of products in another order.",
    ),
    Claim(
        "D10",
        "13.5",
        Kind.SAID,
        "000:395 002:160",
        "Evaluating on one device, while the others idle, is rather inefficient.",
        "LeNet's labels of 512 images on one of two devices, over the time of both.",
        Rule("evaluation_speedup", at_least(NEEDED)),
        "“Inefficient”: both take a tenth less time, or still less.",
        ON_OWN_DEVICES,
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
        Rule("data_parallel_speedup", FASTER),
        "“Usually”: of both nets, the second of which suits data parallelism least; more than 2 %"
        " faster.",
        ON_OWN_DEVICES,
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
        Rule("replicas_over_pipeline", FASTER),
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
        Rule("others_move", near(1, 0)),
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
        Rule("closest_neighbours", FASTER),
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
