"""What up to 1024 devices would gain on published interconnects, by the predictor's machine."""

from collections.abc import Mapping, Sequence

from lab.parallel.cost_model import INTERCONNECTS, RING
from lab.results.measurements import Measurement
from stages.scaling.measure import names
from stages.scaling.measure.predictor import Machine, Network

COUNTS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
STRONG_BATCH, WEAK_IMAGES = 8192, 256


def simulate(machines: Mapping[str, tuple[Machine, Network]]) -> list[Measurement]:
    """Strong and weak scaling of each net, on devices as fast as this one."""
    rows = []
    for net, (machine, network) in machines.items():
        for one in INTERCONNECTS:
            there = Machine(machine.compute, one.link)
            for experiment, values in (
                (names.STRONG, strong_scaling(there, network, STRONG_BATCH, COUNTS)),
                (names.WEAK, weak_scaling(there, network, WEAK_IMAGES, COUNTS)),
            ):
                rows += [
                    Measurement(
                        names.simulated(experiment, net),
                        one.name,
                        n,
                        (value,),
                        "x",
                        names.SIMULATED,
                    )
                    for n, value in zip(COUNTS, values, strict=True)
                ]
    return rows


def strong_scaling(
    machine: Machine, net: Network, batch_size: int, counts: Sequence[int]
) -> list[float]:
    """How many times faster n devices take a step of one batch than one; ring, one bucket."""
    alone = machine.compute.seconds(batch_size)
    return [alone / machine.step_s(net, RING, True, n, batch_size / n) for n in counts]


def weak_scaling(machine: Machine, net: Network, images: int, counts: Sequence[int]) -> list[float]:
    """The share of the ideal speed if n devices take as many images each; ring, one bucket."""
    alone = machine.compute.seconds(images)
    return [alone / machine.step_s(net, RING, True, n, images) for n in counts]
