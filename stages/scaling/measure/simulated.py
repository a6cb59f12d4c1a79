"""Scaling by formulas: nothing is measured, device_kind is `simulated`; no torch.

ResNet-50 on up to 100,000 GPUs in hosts of eight, beside published runs on thousands. What eight
GPUs of one host take is published; beyond them a step all-reduces gradients between the hosts as
well, after the backward pass. The published runs say how long a step took and how efficient it was,
so also what was not overlapped.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lab.parallel.cost_model import HALVING_DOUBLING, RING, Link, two_level_s
from lab.results.measurements import Measurement

EPOCHS, IMAGES = 90, 1_281_167  # of ImageNet, as all published runs train
GRADIENT_BYTES = 4 * 25_557_032  # of ResNet-50 in float32; a test counts them
PER_HOST, IMAGES_EACH = 8, 32  # devices, and images of a step on each: all runs' way
HOST_HOURS = 29.0  # of the whole training on one host of eight P100 (He et al., see Goyal et al.)
INSIDE = Link(0.0, 0.0)  # what a host's own sums take is in its hours
LATENCY_S = 30e-6  # assumed, between hosts
NETWORKS = {f"{gbit} Gb/s": Link(LATENCY_S, 8e-9 / gbit) for gbit in (25, 50, 100, 400)}
HOSTS = (*(2**i for i in range(14)), 12_500)  # up to 100,000 devices


@dataclass(frozen=True)
class Published:
    """A published run: its devices, the link of a host, bytes of a number, efficiency and time."""

    name: str
    devices: int
    gbit: float
    number_bytes: int
    efficiency: float
    minutes: float

    @property
    def step_s(self) -> float:
        """A step's seconds, by the time of the whole training."""
        return 60 * self.minutes * self.devices * IMAGES_EACH / (EPOCHS * IMAGES)

    @property
    def exposed_s(self) -> float:
        """By how much that is longer than the same on the devices that it is compared with."""
        return self.step_s * (1 - self.efficiency)

    @property
    def t2_s(self) -> float:
        """What summing among the hosts takes by the model."""
        network = Link(LATENCY_S, 8e-9 / self.gbit)
        return among_hosts_s(
            self.devices // PER_HOST, network, GRADIENT_BYTES * self.number_bytes / 4
        )


# efficiencies, links and times as Mikami et al. 2018 (arXiv:1811.05233) list them
PUBLISHED = (
    Published("Goyal et al. 2017", 256, 50, 4, 0.90, 60),
    Published("Akiba et al. 2017", 1024, 56, 2, 0.80, 15),  # one rail of InfiniBand FDR
    Published("Jia et al. 2018", 2048, 100, 2, 0.879, 6.6),
)


def computing_s(images: float) -> float:
    """What so many images on each device of one host take: as many times as long as one."""
    of_32 = 3600 * HOST_HOURS * PER_HOST * IMAGES_EACH / (EPOCHS * IMAGES)
    return of_32 * images / IMAGES_EACH


def among_hosts_s(hosts: int, network: Link, num_bytes: float = GRADIENT_BYTES) -> float:
    """Summing gradients among hosts, by the faster of a ring and halving-doubling."""
    return min(by_algorithm_s(name, hosts, network, num_bytes) for name in (RING, HALVING_DOUBLING))


def by_algorithm_s(
    algorithm: str, hosts: int, network: Link, num_bytes: float = GRADIENT_BYTES
) -> float:
    """Summing gradients among hosts of eight."""
    return two_level_s(algorithm, hosts, PER_HOST, num_bytes, INSIDE, network)


def cluster_weak(hosts: Sequence[int], network: Link) -> list[float]:
    """The share of the ideal speed, each device with as many images; nothing overlaps."""
    t1 = computing_s(IMAGES_EACH)
    return [t1 / (t1 + among_hosts_s(n, network)) for n in hosts]


def simulate_clusters() -> list[Measurement]:
    """Weak scaling on each network."""
    return [
        Measurement(
            "weak", network, n * PER_HOST, (value,), "x", "simulated", columns={"net": "resnet50"}
        )
        for network, link in NETWORKS.items()
        for n, value in zip(HOSTS, cluster_weak(HOSTS, link), strict=True)
    ]
