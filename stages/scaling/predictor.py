"""The scaling predictor: a data-parallel step's time from parts measured apart; no torch.

A step computes for t1, which grows with the images of a device, and then sums gradients for t2,
which does not. The notes' max(t1, t2) is the bound that perfect overlap would reach; code that sums
after the backward pass, the notes' own included, takes t1 + t2 (book 13.5, 13.7). Compute and link
are each fitted to measurements that are none of the predicted ones.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from lab.core.files import Row
from lab.parallel.cost_model import ONE_BUCKET, Link, allreduce_s, crossing_batch, step_bounds
from lab.parallel.link_fit import fit_both
from lab.results.measurements import Measurement, Results
from lab.results.stats import fit_line
from stages.scaling import names
from stages.scaling.params import ScalingParams


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
    receiver has to be woken, and may find the processor busy. Messages that follow at once find it
    awake.
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

    def step_s(
        self, net: Network, algorithm: str, one_bucket: bool, n: int, images: float
    ) -> float:
        """The step's seconds without overlap."""
        return step_bounds(*self.parts(net, algorithm, one_bucket, n, images))[1]


@dataclass(frozen=True)
class PredictedStep:
    """A step that is to be measured, and the times of its parts in milliseconds."""

    net: str
    allreduce: str  # of names.ALLREDUCES
    world_size: int
    images: int  # of each device
    t1_ms: float
    t2_ms: float

    @property
    def row(self) -> Row:
        """It as a row of predictions.csv."""
        longer, total = step_bounds(self.t1_ms, self.t2_ms)
        return {
            "net": self.net,
            "allreduce": self.allreduce,
            "world_size": self.world_size,
            "images_per_device": self.images,
            "t1_ms": self.t1_ms,
            "t2_ms": self.t2_ms,
            "max_ms": round(longer, 4),
            "predicted_ms": round(total, 4),
        }

    def beside_measured(self, device_kind: str, threads: int) -> list[Measurement]:
        """It as rows of rows.csv: the parts and their sum."""
        _, total = step_bounds(self.t1_ms, self.t2_ms)
        arm = names.step(self.net, self.allreduce)
        return [
            Measurement(demo, arm, self.images, (value,), "ms", device_kind, threads)
            for demo, value in (
                (names.PREDICTED, total),
                (names.T1, self.t1_ms),
                (names.T2, self.t2_ms),
            )
        ]


def fit_machines(
    parts: Sequence[Measurement], n: int, gradients: Mapping[str, Sequence[int]]
) -> dict[str, tuple[Machine, Network]]:
    """For each net the machine that fits the parts best, and what the net communicates.

    Args:
        parts: steps without communication, messages, and joinings.
        n: the ranks that the messages were exchanged by.
        gradients: how many numbers each gradient of a net has.
    """
    results = Results(parts)
    fit, _ = fit_both([m for m in parts if m.demo == names.MESSAGE], n)
    found = {}
    for net in results.arms(names.ALONE):
        [joining] = results.series(names.JOINING, net)
        lengths = gradients[net]
        found[net] = (
            Machine(compute_of(results, net), fit.link, fit.shared, waits(results)),
            Network(len(lengths), 4 * sum(lengths), joining.summary.median / 1e3),
        )
    return found


def compute_of(results: Results, net: str) -> Compute:
    """What a net's steps without communication take."""
    return fit_compute({m.x: m.summary.median / 1e3 for m in results.series(names.ALONE, net)})


def fit_compute(medians: Mapping[float, float]) -> Compute:
    """The line through seconds by images per device; its fixed time is not below zero."""
    per_image_s, fixed_s = fit_line(list(medians), list(medians.values()))
    return Compute(max(0.0, fixed_s), per_image_s)


def waits(results: Results) -> dict[str, float]:
    """By how many seconds each algorithm's message is late after a computation."""
    times = results.series(names.ALONE, "lenet")
    alone = times[len(times) // 2].summary.median  # as long as the computation before the messages
    found = {}
    for algorithm in results.arms(names.AFTER):
        late = [
            m.summary.median - alone - one.summary.median
            for m in results.series(names.AFTER, algorithm)
            if (one := results.one(names.MESSAGE, algorithm, m.x))
        ]
        found[algorithm] = max(0.0, median(late)) / 1e3
    return found


def predict(
    p: ScalingParams, machines: Mapping[str, tuple[Machine, Network]]
) -> list[PredictedStep]:
    """The steps that are to be measured, with what their parts should take."""
    steps = []
    for net, of_net in p.nets.items():
        machine, network = machines[net]
        for images in of_net.heldout_images:
            for allreduce, (algorithm, grouping) in names.ALLREDUCES.items():
                t1, t2 = machine.parts(
                    network, algorithm, grouping == ONE_BUCKET, p.world_size, images
                )
                t1_ms, t2_ms = round(1e3 * t1, 4), round(1e3 * t2, 4)
                steps.append(PredictedStep(net, allreduce, p.world_size, images, t1_ms, t2_ms))
    return steps


def t2_ms(results: Results, net: str, allreduce: str) -> float:
    """The predicted t2 of a net's steps, whatever their images, as the rows hold it."""
    return results.series(names.T2, names.step(net, allreduce))[0].values[0]


def crossing(results: Results, net: str, allreduce: str, n: int) -> float:
    """The batch over n devices from which on t1 is longer than t2, as the rows have them."""
    compute = compute_of(results, net)
    t2_s = t2_ms(results, net, allreduce) / 1e3
    return crossing_batch(compute.fixed_s, compute.per_image_s, t2_s, n)


@dataclass(frozen=True)
class MeasuredStep:
    """A held-out step: its measurement, and what was predicted of it in milliseconds."""

    net: str
    allreduce: str
    measured: Measurement
    t1: float
    t2: float

    @property
    def predicted(self) -> float:
        """The predicted time of the step."""
        return self.t1 + self.t2

    @property
    def error(self) -> float:
        """Its relative error; below zero, the prediction is too short."""
        return self.predicted / self.measured.summary.median - 1


def measured_steps(results: Results) -> list[MeasuredStep]:
    """The held-out steps that rows hold."""
    found = []
    for arm in results.arms(names.MEASURED):
        for m in results.series(names.MEASURED, arm):
            t1, t2 = (
                one.values[0]
                for demo in (names.T1, names.T2)
                if (one := results.one(demo, arm, m.x))
            )
            found.append(MeasuredStep(*names.net_and_allreduce(arm), m, t1, t2))
    return found
