"""The scaling predictor: a data-parallel step's time from parts measured apart; no torch.

A step computes for t1, which grows with the images of a device, and then sums gradients for t2. The
notes' max(t1, t2) is the bound that perfect overlap would reach; code that sums after the backward
pass, the notes' own included, takes t1 + t2 (book 13.5, 13.7). Computing, and summing behind a
computation, are each fitted to measurements that are none of the predicted ones; on other machines
the sums are those of a link.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, median

from lab.parallel.cost_model import ONE_BUCKET, Link, allreduce_s, crossing_batch, step_bounds
from lab.parallel.link_fit import fit_both
from lab.results.measurements import AGAIN, Measurement, Results
from lab.results.stats import fit_line
from stages.scaling.measure import names
from stages.scaling.measure.late_sums import fit_late_sums

OUTSIDE = 0.025  # of an interval of 95 %, on each side


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

    def step_s(
        self, net: Network, algorithm: str, one_bucket: bool, n: int, images: float
    ) -> float:
        """The step's seconds without overlap."""
        return step_bounds(*self.parts(net, algorithm, one_bucket, n, images))[1]


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
    fit, _ = fit_both([m for m in parts if m.experiment == names.MESSAGE], n)
    found = {}
    for net in results.variants(names.ALONE):
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
    """By how many seconds each algorithm's message is late after a short computation."""
    found = {}
    for algorithm in names.ALGORITHMS:
        sums = fit_late_sums(results, algorithm)
        alone = results.series(names.MESSAGE, algorithm)[0]  # the shortest
        late = sums.ms([alone.x], min(sums.short_ms)) - alone.summary.median
        found[algorithm] = max(0.0, late) / 1e3
    return found


@dataclass(frozen=True)
class ComparedStep:
    """A step, with its measured time and those of its parts; values are of the starts, in ms."""

    net: str
    allreduce: str  # of names.ALLREDUCES
    measured: Measurement
    t1: Measurement
    t2: Measurement

    @property
    def predicted(self) -> float:
        """The predicted time of the step, the median over the starts."""
        return median(step_bounds(t1, t2)[1] for t1, t2 in self._parts())

    @property
    def error(self) -> float:
        """Its relative error, the median over the starts; below zero, it is predicted too short."""
        return median(self.errors(names.SUM_RULE))

    def errors(self, rule: str) -> list[float]:
        """The relative error of SUM_RULE or MAX_RULE in each start."""
        which = (names.MAX_RULE, names.SUM_RULE).index(rule)
        return [
            step_bounds(t1, t2)[which] / m - 1
            for (t1, t2), m in zip(self._parts(), self.measured.values, strict=True)
        ]

    def ratios(self) -> list[float]:
        """The measured time over the predicted one in each start."""
        return [1 / (1 + error) for error in self.errors(names.SUM_RULE)]

    def _parts(self) -> list[tuple[float, float]]:
        return list(zip(self.t1.values, self.t2.values, strict=True))


def predict(
    measured: Sequence[Measurement], gradients: Mapping[str, Sequence[int]]
) -> list[Measurement]:
    """T1 and T2 of each measured step: in each start, by that start's parts alone."""
    steps = [
        m for m in measured if m.experiment == names.MEASURED and not m.variant.endswith(AGAIN)
    ]
    starts = [
        _OfStart(Results(parts), gradients)
        for parts in _starts(
            [m for m in measured if m.experiment not in (names.MEASURED, names.IN_A_ROW)]
        )
    ]
    found = []
    for step in steps:
        parts = [start.parts_ms(*names.net_and_allreduce(step.variant), step.x) for start in starts]
        for experiment, ms in zip((names.T1, names.T2), zip(*parts, strict=True), strict=True):
            found.append(replace(step, experiment=experiment, values=ms))
    return found


class _OfStart:
    """What the parts of one start predict."""

    def __init__(self, parts: Results, gradients: Mapping[str, Sequence[int]]) -> None:
        """Fit computing and summing."""
        self._parts, self._gradients = parts, gradients
        self._compute = {net: compute_of(parts, net) for net in parts.variants(names.ALONE)}
        self._sums = {name: fit_late_sums(parts, name) for name in names.ALGORITHMS}

    def parts_ms(self, net: str, allreduce: str, images: float) -> tuple[float, float]:
        """t1 and t2 of a step with so many images on each device."""
        algorithm, grouping = names.ALLREDUCES[allreduce]
        alone = self._parts.one(names.ALONE, net, images)
        t1 = alone.summary.median if alone else 1e3 * self._compute[net].seconds(images)
        tensors = [4.0 * length for length in self._gradients[net]]
        if grouping == ONE_BUCKET:
            [joining] = self._parts.series(names.JOINING, net)
            return t1, joining.summary.median + self._sums[algorithm].ms([sum(tensors)], t1)
        return t1, self._sums[algorithm].ms(tensors, t1)


def _starts(measured: Sequence[Measurement]) -> list[list[Measurement]]:
    """The measurements of each start."""
    timed = [m for m in measured if m.unit == "ms"]
    return [[replace(m, values=(m.values[i],)) for m in timed] for i in range(len(timed[0].values))]


def compared_steps(results: Results) -> list[ComparedStep]:
    """The measured steps that rows hold, with their predicted parts."""
    found = []
    for variant in results.variants(names.MEASURED):
        for m in results.series(names.MEASURED, variant):
            t1, t2 = results.one(names.T1, variant, m.x), results.one(names.T2, variant, m.x)
            if t1 and t2:
                found.append(ComparedStep(*names.net_and_allreduce(variant), m, t1, t2))
    return found


def mean_error(steps: Sequence[ComparedStep], rule: str) -> float:
    """The mean size of the steps' errors, each the median over the starts, in percent."""
    return fmean(100 * abs(median(step.errors(rule))) for step in steps)


def noise_floor(results: Results) -> float:
    """How far one half of what was measured is from predicting the other half, in percent.

    As `mean_error`: the mean over the steps of the size of the median over the starts.
    """
    halves = [m for m in results.measurements if m.experiment == names.HALVES]
    return fmean(abs(median(m.values)) for m in halves)


def interval(step: ComparedStep, steps: Sequence[ComparedStep]) -> tuple[float, float]:
    """The measured time over the predicted one, from which to which: 95 % of other steps' ratios.

    These are of all starts of the steps that sum as many tensors at a time: sums one by one vary
    more than those of a bucket.
    """
    _, grouping = names.ALLREDUCES[step.allreduce]
    others = [
        other
        for other in steps
        if other is not step and names.ALLREDUCES[other.allreduce][1] == grouping
    ]
    ratios = sorted(ratio for other in others for ratio in other.ratios())
    outside = int(OUTSIDE * (len(ratios) + 1))  # on each side; rounded down, so none where few
    return ratios[max(0, outside - 1)], ratios[-max(1, outside)]


def coverage(steps: Sequence[ComparedStep]) -> float:
    """The share of measured times, of all steps and starts, in their intervals, in percent."""
    inside = []
    for step in steps:
        low, high = interval(step, steps)
        inside += [low <= ratio <= high for ratio in step.ratios()]
    return 100 * fmean(inside)


def in_a_row(results: Results, steps: Sequence[ComparedStep]) -> ComparedStep:
    """The steps in a row, as long as one of them, with the parts of the step that they repeat."""
    [variant] = results.variants(names.IN_A_ROW)
    [measured] = results.series(names.IN_A_ROW, variant)
    of_variant = [step for step in steps if names.step(step.net, step.allreduce) == variant]
    largest = max(of_variant, key=lambda step: step.measured.x)
    return replace(largest, measured=measured)


def t2_ms(results: Results, net: str, allreduce: str) -> float:
    """The predicted t2 of a net's smallest steps: the median over the starts."""
    return results.series(names.T2, names.step(net, allreduce))[0].summary.median


def crossing(results: Results, net: str, allreduce: str, n: int) -> float:
    """The batch over n devices from which on t1 is longer than t2, as the rows have them."""
    compute = compute_of(results, net)
    t2_s = t2_ms(results, net, allreduce) / 1e3
    return crossing_batch(compute.fixed_s, compute.per_image_s, t2_s, n)
