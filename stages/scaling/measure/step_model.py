"""A data-parallel step's time from parts measured apart; no torch.

A step computes for t1, which grows with the images of a device, and then sums gradients for t2. The
notes' max(t1, t2) is the bound that perfect overlap would reach; code that sums after the backward
pass, the notes' own included, takes t1 + t2 (book 13.5, 13.7). On other machines the sums are those
of a link; on this one they are read off sums behind a computation (`LateSums`).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lab.parallel.cost_model import RING, STAR, Link, allreduce_s
from lab.parallel.link_fit import fit_both
from lab.results.measurements import Results
from lab.results.stats import fit_line

Line = Mapping[float, float]  # y by x


@dataclass(frozen=True)
class Compute:
    """Seconds that a device computes in a step: a fixed time, and some for each of its images."""

    fixed_s: float
    per_image_s: float

    def seconds(self, images: float) -> float:
        """The time of a step with so many images on each device."""
        return self.fixed_s + self.per_image_s * images


@dataclass(frozen=True)
class Network:
    """What is communicated of a net in each step: its gradients.

    `joining_s` is what it takes to join them into one bucket and to take them apart again.
    """

    num_tensors: int
    num_bytes: int
    joining_s: float = 0.0


@dataclass(frozen=True)
class Machine:
    """Devices that compute alike, and what connects them; `shared` as in `allreduce_path`.

    `waits` are seconds, by algorithm, for which the first message after a computation is late: its
    receiver has to be woken, and may find the processor busy.
    """

    compute: Compute
    link: Link
    shared: bool = False
    waits: Mapping[str, float] = field(default_factory=dict)

    def parts(
        self, net: Network, algorithm: str, one_bucket: bool, n: int, images: float
    ) -> tuple[float, float]:
        """t1 and t2 of a step of n devices with so many images each, in seconds."""
        if n == 1:
            return self.compute.seconds(images), 0.0
        num_tensors = 1 if one_bucket else net.num_tensors
        summing = allreduce_s(algorithm, n, num_tensors, net.num_bytes, self.link, self.shared)
        joining = net.joining_s if one_bucket else 0.0
        return self.compute.seconds(images), self.waits.get(algorithm, 0.0) + joining + summing


@dataclass(frozen=True)
class LateSums:
    """Milliseconds of an algorithm's all-reduces behind a computation.

    Alone, messages follow each other and find their receivers awake. Behind a computation the ranks
    are not equally far, receivers have to be woken, and processors are shared with the threads that
    move the bytes: a single short message then takes some ten times as long, and later ones of a
    list less and less. No latency and bandwidth tell that, so it is measured: for a few numbers of
    short tensors, which are no net's, behind computations of a few lengths, and for longer tensors.
    In between lines are drawn, for computations over the logarithm of their length.

    Attributes:
        short_ms: by the computation's milliseconds: what lists of short tensors take beyond it, by
            their number.
        longer_ms: by a tensor's bytes: what it takes beyond a short one.
    """

    short_ms: Mapping[float, Line]
    longer_ms: Line

    def ms(self, tensor_bytes: Sequence[float], computing_ms: float) -> float:
        """What a list of tensors takes beyond a computation of so many milliseconds."""
        of_count = {
            math.log(computed): at(len(tensor_bytes), line)
            for computed, line in self.short_ms.items()
        }
        longer = sum(max(0.0, at(size, self.longer_ms, beyond=True)) for size in tensor_bytes)
        return at(math.log(computing_ms), of_count) + longer


def at(x: float, line: Line, beyond: bool = False) -> float:
    """The y at x on the straight pieces between points; outside them that of the nearest.

    With `beyond`, the last piece goes on.
    """
    xs = sorted(line)
    ys = [line[each] for each in xs]
    if beyond and x > xs[-1] and len(xs) > 1:
        return ys[-1] + (x - xs[-1]) * (ys[-1] - ys[-2]) / (xs[-1] - xs[-2])
    return float(np.interp(x, xs, ys))


# --- fitted to what was measured


def fit_compute(medians: Mapping[float, float]) -> Compute:
    """The line through seconds by images per device.

    Computing takes some time for each image, and at the start it takes no less than none: where
    noise tilts the line so far that it says otherwise, it is the one through the origin.
    """
    images, seconds = list(medians), list(medians.values())
    per_image_s, fixed_s = fit_line(images, seconds)
    if per_image_s > 0 and fixed_s >= 0:
        return Compute(fixed_s, per_image_s)
    shares = [n / s for n, s in medians.items()]  # errors are relative, as those of fit_line
    return Compute(0.0, sum(shares) / sum(share**2 for share in shares))


def compute_of(results: Results, net: str, experiment: str = "without communication") -> Compute:
    """What a net's steps without communication take, on all devices or on one."""
    return fit_compute({m.x: m.summary.median / 1e3 for m in results.series(experiment, net)})


def fit_late_sums(results: Results, algorithm: str) -> LateSums:
    """From lists of tensors behind computations, and the steps that compute the same alone."""
    lists = results.series("behind computing", algorithm)
    shortest = min(m.x for m in lists)
    beyond: dict[tuple[float, int, float], float] = {}  # by computing, number and size
    for m in lists:
        net, images = str(m.columns["net"]), float(m.columns["images"])
        alone = results.one("without communication", net, images)
        assert alone, "what is timed behind a computation is timed beside it"  # noqa: S101
        computing_ms = alone.summary.median
        place = computing_ms, int(m.columns["tensors"]), m.x
        beyond[place] = max(0.0, m.summary.median - computing_ms)
    short: dict[float, dict[float, float]] = {}
    for (computing_ms, count, size), ms in beyond.items():
        if size == shortest:
            short.setdefault(computing_ms, {})[count] = ms
    longer = {  # of which every other tensor is a short one
        size: (ms - beyond[computing_ms, count, shortest]) / math.ceil(count / 2)
        for (computing_ms, count, size), ms in beyond.items()
    }
    return LateSums(short, longer)


def waits(results: Results) -> dict[str, float]:
    """By how many seconds each algorithm's message is late after a short computation."""
    found = {}
    for algorithm in (STAR, RING):
        sums = fit_late_sums(results, algorithm)
        alone = results.series("message", algorithm)[0]  # the shortest
        late = sums.ms([alone.x], min(sums.short_ms)) - alone.summary.median
        found[algorithm] = max(0.0, late) / 1e3
    return found


def fit_machines(
    results: Results, n: int, gradients: Mapping[str, Sequence[int]]
) -> dict[str, tuple[Machine, Network]]:
    """For each net the machine that fits its parts best, and what the net communicates.

    Args:
        results: among them steps without communication, messages, and joinings.
        n: the ranks that the messages were exchanged by.
        gradients: how many numbers each gradient of a net has.
    """
    fit, _ = fit_both([m for m in results.measurements if m.experiment == "message"], n)
    found = {}
    for net in results.variants("without communication"):
        [joining] = results.series("joining", net)
        lengths = gradients[net]
        found[net] = (
            Machine(compute_of(results, net), fit.link, fit.shared, waits(results)),
            Network(len(lengths), 4 * sum(lengths), joining.summary.median / 1e3),
        )
    return found
