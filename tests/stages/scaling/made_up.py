"""Made-up results of scaling, as a CPU or a GPU would leave them."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from lab.machine.devices import DeviceKind
from lab.parallel.cost_model import ADDING, PER_TENSOR, RING, STAR, THERE_AND_BACK, allreduce_s
from lab.results.measurements import Measurement, Results
from lab.timing.runner import merge
from stages.scaling.measure.params import NetParams, ScalingParams
from stages.scaling.measure.predictions import ALLREDUCES, HALVES, at_notes_batch, predict
from stages.scaling.measure.simulated import simulate_clusters
from tests.made_up import LINK, one

LATE = 0.5  # ms, of the first message after a computation
LONGER = 1.05  # than predicted, the made-up steps take
FIXED = 1.0  # ms of computing, whatever the images
SIZES = (16, 65536, 2**22)
TENSORS = (1, 8, 76)  # as many as the nets have, so that no line is drawn between
FLOOR = 2.0  # percent, between the halves of a step's rounds
MS_PER_IMAGE = {"lenet": 0.2, "resnet18": 30.0}
GRADIENTS = {"lenet": (1,) * 7 + (129_061,), "resnet18": (1,) * 75 + (11_175_743,)}
SCALING = ScalingParams(
    world_size=2,
    message_bytes=list(SIZES),
    tensors=list(TENSORS),
    rounds=4,
    lenet=NetParams(calibration_images=[4, 128], heldout_images=[16]),
    resnet18=NetParams(calibration_images=[4, 32], heldout_images=[8]),
)


def computing_ms(net: str, images: int) -> float:
    """What a step's computing takes."""
    return FIXED + MS_PER_IMAGE[net] * images


def summing_ms(net: str, algorithm: str, per_tensor: bool, kind: DeviceKind) -> float:
    """What summing a net's gradients takes, between GPUs over links of their own."""
    lengths = GRADIENTS[net]
    tensors = len(lengths) if per_tensor else 1
    return 1e3 * allreduce_s(algorithm, 2, tensors, 4 * sum(lengths), LINK, kind != "cuda")


def timed(
    experiment: str, variant: str, ms: float, kind: DeviceKind, x: float = 0, **columns
) -> Measurement:
    return replace(one(experiment, variant, ms, kind, x), columns=columns)


def measurements(kind: DeviceKind) -> list[Measurement]:
    """Parts just as the model has them, and steps that take a twentieth longer than their sum."""
    measured = [*parts(kind), *steps(kind)]
    derived = start_by_start(
        measured, lambda start: [*predict(start, GRADIENTS), *at_notes_batch(Results(start), 2)]
    )
    return [*measured, *derived, *simulate_clusters()]


def start_by_start(
    measured: Sequence[Measurement], derive: Callable[[list[Measurement]], Sequence[Measurement]]
) -> list[Measurement]:
    """What `derive` finds in the samples of each start."""
    starts = range(len(measured[0].values))
    return merge([derive([replace(m, values=(m.values[i],)) for m in measured]) for i in starts])


def steps(kind: DeviceKind) -> list[Measurement]:
    """Steps, and what is timed beside them."""
    made: list[Measurement] = []
    for net, of_net in SCALING.nets.items():
        most = max(of_net.calibration_images)
        for images in sorted({*of_net.heldout_images, most}):
            for algorithm, grouping in ALLREDUCES:
                summing = summing_ms(net, algorithm, grouping == PER_TENSOR, kind)
                taken = LONGER * (computing_ms(net, images) + LATE + summing)
                step = timed("step", algorithm, taken, kind, images, net=net, grouping=grouping)
                floor = one("", "", FLOOR, kind).values
                made.append(step)
                made.append(replace(step, experiment=HALVES, values=floor, unit="%"))
        summing = summing_ms(net, STAR, True, kind)
        made.append(timed("beside the steps", "summing alone", summing, kind, net=net))
    return made


def parts(kind: DeviceKind) -> list[Measurement]:
    """Parts just as the model has them; one device computes a batch as fast as two its halves."""
    shared, made = kind != "cuda", []

    def message_ms(name: str, size: float) -> float:
        return 1e3 * allreduce_s(name, 2, 1, size, LINK, shared)

    for size in SIZES:
        both_ways = 2 * LINK.alpha_s + 2 * size * LINK.s_per_byte
        made += [one("message", name, message_ms(name, size), kind, size) for name in (STAR, RING)]
        made.append(one("message", THERE_AND_BACK, 1e3 * both_ways, kind, size))
    added = SIZES[-1] / 2 * (2 if shared else 1)
    made.append(one("message", ADDING, 1e3 * added * LINK.add_s_per_byte, kind, SIZES[-1]))
    for net, images in (("lenet", 4), ("lenet", 128), ("resnet18", 4)):
        lists = [(count, SIZES[0]) for count in TENSORS]
        lists += [(8, SIZES[1]), (1, SIZES[2])] if net == "resnet18" else []
        made += [
            timed(
                "behind computing",
                name,
                computing_ms(net, images)
                + LATE
                + (count // 2) * message_ms(name, SIZES[0])  # every other one is short
                + (count - count // 2) * message_ms(name, size),
                kind,
                size,
                net=net,
                images=images,
                tensors=count,
            )
            for count, size in lists
            for name in (STAR, RING)
        ]
    for net, of_net in SCALING.nets.items():
        made.append(one("joining", net, 0.0, kind, len(GRADIENTS[net])))
        sizes = of_net.calibration_images
        made += [one("without communication", net, computing_ms(net, n), kind, n) for n in sizes]
        on_one = [256] if net == "lenet" else sizes
        made += [one("one device", net, computing_ms(net, n), kind, n) for n in on_one]
    return made


def conditions(made: list[Measurement]) -> dict[str, float | str]:
    """The stage's own conditions."""
    return {"world_size": SCALING.world_size}
