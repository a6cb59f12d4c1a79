"""Made-up results of scaling on a CPU or a GPU."""

from dataclasses import replace

from lab.core.files import Metrics
from lab.machine.devices import DeviceKind
from lab.parallel.cost_model import (
    ADDING,
    ALGORITHMS,
    LIBRARY,
    PER_TENSOR,
    RING,
    THERE_AND_BACK,
    allreduce_s,
)
from lab.results.measurements import Measurement
from stages.scaling.measure.names import (
    ALLREDUCES,
    AT_LAST,
    AT_ONCE,
    BY_LIBRARY,
    COMPUTING,
    WAITING,
)
from tests.made_up import LINK, one

SIZES = (4, 4e3, 4e6)
NETS = {"lenet": (8, 516_272), "resnet18": (76, 44_703_272)}  # tensors and bytes
IMAGES = {"lenet": (16, 128), "resnet18": (4, 32)}
FIXED = 1.0  # ms of computing, for any number of images
MS_PER_IMAGE = {"lenet": 0.2, "resnet18": 30.0}
LONGER = 1.05  # made-up steps relative to t1 + t2
HIDDEN = 0.5  # share of the all-reduce that overlaps


def computing_ms(net: str, images: int) -> float:
    return FIXED + MS_PER_IMAGE[net] * images


def measurements(kind: DeviceKind) -> list[Measurement]:
    """Return the model's exact times: separate links between GPUs, one shared link on a CPU."""
    shared = kind != "cuda"

    def all_reduce_ms(algorithm: str, n: int, tensors: int, size: float) -> float:
        as_if = RING if algorithm == LIBRARY else algorithm
        return 1e3 * allreduce_s(as_if, n, tensors, size, LINK, shared)

    def timed(experiment: str, variant: str, ms: float, x: float, **columns) -> Measurement:
        return replace(one(experiment, variant, ms, kind, x), columns=columns)

    made = [
        timed("message", name, all_reduce_ms(name, n, 1, size), size, ranks=n)
        for n in (2, 4)
        for name in ALGORITHMS
        for size in SIZES
    ]
    for size in SIZES:
        both_ways = 2 * LINK.alpha_s + 2 * size * LINK.s_per_byte
        made.append(timed("message", THERE_AND_BACK, 1e3 * both_ways, size, ranks=2))
    added = SIZES[-1] / 2 * (2 if shared else 1)
    made.append(timed("message", ADDING, 1e3 * added * LINK.add_s_per_byte, SIZES[-1], ranks=2))
    for net, (tensors, size) in NETS.items():
        sums = {
            name: all_reduce_ms(algorithm, 2, tensors if grouping == PER_TENSOR else 1, size)
            for name, (algorithm, grouping) in ALLREDUCES.items()
        }
        for name, ms in sums.items():
            made.append(timed("gradients", name, ms, size, net=net, tensors=tensors))
            for images in IMAGES[net]:
                taken = LONGER * (computing_ms(net, images) + ms)
                made.append(timed("step", name, taken, images, net=net))
        for images in IMAGES[net]:
            made.append(timed("step", COMPUTING, computing_ms(net, images), images, net=net))
            made.append(timed("step", WAITING, 1.2 * computing_ms(net, images), images, net=net))
        for images in [256] if net == "lenet" else IMAGES[net]:
            made.append(timed("one device", COMPUTING, computing_ms(net, images), images, net=net))
        made += [
            timed("gradient ready", "last layer", 10.0, 3000, net=net),
            timed("gradient ready", "first layer", 30.0, 1000, net=net),
        ]
    alone, summing = computing_ms("resnet18", 32), sums[BY_LIBRARY]
    for mib in (1, 25):
        made.append(timed("bucket step", AT_LAST, alone + summing, mib, net="resnet18"))
        during = alone + (1 - HIDDEN) * summing
        made.append(timed("bucket step", AT_ONCE, during, mib, net="resnet18"))
    return made


def conditions(made: list[Measurement]) -> Metrics:
    return {"world_size": 2, "cores": 2}
