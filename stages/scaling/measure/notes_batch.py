"""Each net's steps at the notes' batch, start by start, from what was measured in turn; no torch.

LeNet computes that batch here. ResNet-18 would take minutes on a processor: its computing is the
line through smaller batches, and what a step takes beyond computing is taken to be the same for all
batches, since the gradients are.
"""

import numpy as np
from numpy.typing import NDArray

from lab.results.measurements import Measurement, Results
from stages.scaling.measure import names
from stages.scaling.measure.predictor import fit_compute

Times = NDArray[np.float64]  # ms, of each start


def at_notes_batch(results: Results, n: int) -> list[Measurement]:
    """The experiment `names.at_notes_batch` of each net, and EFFICIENCY."""
    found = []
    for net in names.NETS:
        notes = names.NOTES_IMAGES[net]
        computing, beyond = _computing(results, names.ALONE, net, notes), _beyond(results, net)
        [summing] = results.series(names.OTHERS, names.step(net, names.SUMMING))
        variants = {
            names.COMPUTING: computing,
            names.WHOLE_BATCH: _computing(results, names.ONE_DEVICE, net, n * notes),
            names.STEP: computing + beyond,
            names.SUMMING: np.array(summing.values),
        }
        equal = _computing(results, names.ALONE, net, names.EQUAL_IMAGES)
        share = 100 * equal / (equal + beyond)
        like = results.series(names.ALONE, net)[0]
        on = like.device_kind, like.threads
        experiment = names.at_notes_batch(net)
        found += [
            Measurement(experiment, variant, notes, tuple(t), "ms", *on)
            for variant, t in variants.items()
        ]
        found.append(Measurement(names.EFFICIENCY, net, names.EQUAL_IMAGES, tuple(share), "%", *on))
    return found


def _computing(results: Results, experiment: str, net: str, images: int) -> Times:
    """The time of `images`: measured, or on the line through the times of other numbers."""
    if measured := results.one(experiment, net, images):
        return np.array(measured.values)
    series = results.series(experiment, net)
    starts = range(len(series[0].values))
    lines = [fit_compute({m.x: m.values[i] / 1e3 for m in series}) for i in starts]
    return np.array([1e3 * line.seconds(images) for line in lines])


def _beyond(results: Results, net: str) -> Times:
    """What the notes' steps take beyond computing, at the most images computed."""
    alone = results.series(names.ALONE, net)[-1]
    step = results.one(names.MEASURED, names.step(net, names.BY_NOTES), alone.x)
    assert step, "the most images are computed alone and in a step"  # noqa: S101
    return np.subtract(step.values, alone.values, dtype=np.float64)
