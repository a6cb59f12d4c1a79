"""What a data-parallel training step should take, from parts that were measured apart (book 13.5,
13.7).

A step computes for t1, which grows with the images of a device, and then sums gradients for t2,
which does not. The notes' max(t1, t2) is the bound that perfect overlap would reach; code that sums
after the backward pass, the notes' own included, takes t1 + t2. Compute and link are each told from
measurements that are none of the predicted ones.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lab.parallel.cost_model import Link, allreduce_s, step_bounds
from lab.results.stats import fit_line


@dataclass(frozen=True)
class Compute:
    """Seconds that a device computes in a step: fixed ones, and some for each of its images."""

    fixed_s: float
    per_image_s: float

    def seconds(self, images: float) -> float:
        """Return the time of a step with so many images on each device."""
        return self.fixed_s + self.per_image_s * images


def fit_compute(medians: Mapping[int, float]) -> Compute:
    """Return what steps without communication tell, by images per device; no time is below zero."""
    per_image_s, fixed_s = fit_line(list(medians), list(medians.values()))
    return Compute(max(0.0, fixed_s), per_image_s)


@dataclass(frozen=True)
class Network:
    """What is communicated of a net in each step: its gradients, so many tensors and bytes
    together.

    `joining_s` is what it takes to join them into one bucket and to take them apart again.
    """

    num_tensors: int
    num_bytes: int
    joining_s: float = 0.0


@dataclass(frozen=True)
class Machine:
    """Devices that compute alike, and what connects them; `shared` as in `costs.allreduce_path`.

    `waits` are seconds, by algorithm, for which the first message after a computation is late:
    whoever is to take it has to be woken, and may find the processor busy. Messages that follow at
    once find it awake.
    """

    compute: Compute
    link: Link
    shared: bool = False
    waits: Mapping[str, float] = field(default_factory=dict)

    def parts(
        self, net: Network, algorithm: str, one_bucket: bool, n: int, images: float
    ) -> tuple[float, float]:
        """Return t1 and t2 of a step of n devices with so many images each."""
        num_tensors = 1 if one_bucket else net.num_tensors
        summing = allreduce_s(algorithm, n, num_tensors, net.num_bytes, self.link, self.shared)
        if n == 1:
            return self.compute.seconds(images), 0.0
        joining = net.joining_s if one_bucket else 0.0
        return self.compute.seconds(images), self.waits.get(algorithm, 0.0) + joining + summing

    def step_s(
        self, net: Network, algorithm: str, one_bucket: bool, n: int, images: float
    ) -> float:
        """Return the step's seconds without overlap."""
        return step_bounds(*self.parts(net, algorithm, one_bucket, n, images))[1]


def strong_scaling(
    machine: Machine, net: Network, batch_size: int, counts: Sequence[int]
) -> list[float]:
    """Return how many times faster n devices take a step of one batch than one does; by ring, in
    one bucket.
    """
    alone = machine.compute.seconds(batch_size)
    return [alone / machine.step_s(net, "ring", True, n, batch_size / n) for n in counts]


def weak_scaling(machine: Machine, net: Network, images: int, counts: Sequence[int]) -> list[float]:
    """Return the share of n devices' speed that is left when each keeps its number of images, as
    the notes do.
    """
    alone = machine.compute.seconds(images)
    return [alone / machine.step_s(net, "ring", True, n, images) for n in counts]
