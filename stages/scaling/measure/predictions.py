"""What a process's parts predict of its steps, and how far that is off; no torch.

Computing, and summing behind a computation, are fitted to measurements that are none of the
predicted ones.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from lab.parallel.cost_model import ONE_BUCKET, PER_TENSOR, RING, STAR, allreduce_name, step_bounds
from lab.results.measurements import AGAIN, Measurement, Results
from stages.scaling.measure.step_model import compute_of, fit_late_sums

ALLREDUCES = tuple((name, way) for name in (STAR, RING) for way in (PER_TENSOR, ONE_BUCKET))
HALVES = "one half of the rounds over the other"  # of each step, in percent beyond 100
NOTES_IMAGES = {"lenet": 128, "resnet18": 256}  # of each of the notes' two devices
EQUAL_IMAGES = 128  # of each device, whatever the net


def predict(
    measured: Sequence[Measurement], gradients: Mapping[str, Sequence[int]]
) -> list[Measurement]:
    """T1 and t2 of each of a process's steps, in ms, by that process's parts alone.

    `gradients` are the numbers of each gradient of a net.
    """
    parts = Results(measured)
    computing = {net: compute_of(parts, net) for net in parts.variants("without communication")}
    sums = {algorithm: fit_late_sums(parts, algorithm) for algorithm in (STAR, RING)}
    found = []
    for step in measured:
        if step.experiment != "step" or step.variant.endswith(AGAIN):
            continue
        net = str(step.columns["net"])
        alone = parts.one("without communication", net, step.x)
        t1 = alone.summary.median if alone else 1e3 * computing[net].seconds(step.x)
        tensors = [4.0 * length for length in gradients[net]]
        if step.columns["grouping"] == ONE_BUCKET:
            [joining] = parts.series("joining", net)
            t2 = joining.summary.median + sums[step.variant].ms([sum(tensors)], t1)
        else:
            t2 = sums[step.variant].ms(tensors, t1)
        found += [
            replace(step, experiment=name, values=(ms,)) for name, ms in (("t1", t1), ("t2", t2))
        ]
    return found


def at_notes_batch(results: Results, n: int) -> list[Measurement]:
    """A process's steps of each net at the notes' batch, and computing's share of a step.

    LeNet computes that batch here. ResNet-18 would take minutes on a processor: its computing is
    the line through smaller batches, and what a step takes beyond computing is taken to be the same
    for all batches, since the gradients are.
    """
    found = []
    for net, notes in NOTES_IMAGES.items():
        alone = results.series("without communication", net)[-1]  # the most images
        step = results.one("step", STAR, alone.x, net=net, grouping=PER_TENSOR)
        assert step, "the most images are computed alone and in a step"  # noqa: S101
        beyond = max(0.0, step.summary.median - alone.summary.median)
        [summing] = results.series("beside the steps", "summing alone", net=net)
        computing = _computing_ms(results, "without communication", net, notes)
        variants = {
            "computing": computing,
            "whole batch on one device": _computing_ms(results, "one device", net, n * notes),
            "step": computing + beyond,
            "summing alone": summing.summary.median,
        }
        equal = _computing_ms(results, "without communication", net, EQUAL_IMAGES)
        share = 100 * equal / (equal + beyond)
        on = alone.device_kind, alone.threads
        found += [
            Measurement("notes' batch", name, notes, (ms,), "ms", *on, columns={"net": net})
            for name, ms in variants.items()
        ]
        found.append(Measurement("efficiency", net, EQUAL_IMAGES, (share,), "%", *on))
    return found


def _computing_ms(results: Results, experiment: str, net: str, images: int) -> float:
    """The time of `images`: measured, or on the line through the times of other numbers."""
    if measured := results.one(experiment, net, images):
        return measured.summary.median
    return 1e3 * compute_of(results, net, experiment).seconds(images)


# --- how far predictions are off


@dataclass(frozen=True)
class ComparedStep:
    """A step, with its measured time and those of its parts, of each start, in ms."""

    net: str
    algorithm: str
    grouping: str
    measured: Measurement
    t1: Measurement
    t2: Measurement

    @property
    def allreduce(self) -> str:
        """The name of the way to sum."""
        return allreduce_name(self.algorithm, self.grouping)

    def error(self, overlap: bool = False) -> float:
        """The relative error of t1 + t2, the median over the starts; below zero, it is too short.

        With `overlap`, that of max(t1, t2).
        """
        starts = zip(self.t1.values, self.t2.values, self.measured.values, strict=True)
        return median(step_bounds(t1, t2)[not overlap] / m - 1 for t1, t2, m in starts)


def compared_steps(results: Results) -> list[ComparedStep]:
    """The measured steps that rows hold, with their predicted parts."""
    found = []
    for net in results.variants("without communication"):
        for algorithm, grouping in ALLREDUCES:
            where = {"net": net, "grouping": grouping}
            for m in results.series("step", algorithm, **where):
                t1, t2 = (results.one(part, algorithm, m.x, **where) for part in ("t1", "t2"))
                if t1 and t2:
                    found.append(ComparedStep(net, algorithm, grouping, m, t1, t2))
    return found
