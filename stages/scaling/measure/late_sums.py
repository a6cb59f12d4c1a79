"""What all-reduces take behind a computation, from lists of tensors that are no net's; no torch.

Alone, messages follow each other and find their receivers awake. Behind a computation the ranks are
not equally far, receivers have to be woken, and processors are shared with the threads that move
the bytes: a single short message then takes some ten times as long, and later ones of a list less
and less. No latency and bandwidth tell that, so it is measured: for a few numbers of short tensors
behind computations of a few lengths, and for longer tensors. In between lines are drawn, for
computations over the logarithm of their length.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lab.results.measurements import Results
from stages.scaling.measure import names

Line = Mapping[float, float]  # y by x, growing


@dataclass(frozen=True)
class LateSums:
    """Milliseconds of an algorithm's all-reduces behind a computation.

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


def fit_late_sums(results: Results, algorithm: str) -> LateSums:
    """From one start's `names.behind` experiments, and the steps that compute the same alone."""
    shortest = min(size for *_, size in _lists(results, algorithm))
    beyond: dict[tuple[float, int, float], float] = {}  # by computing, number and size
    for net, images, count, size in _lists(results, algorithm):
        m = results.one(names.behind(net, images), names.tensors(algorithm, count), size)
        alone = results.one(names.ALONE, net, images)
        assert m and alone, "what is timed behind a computation is timed beside it"  # noqa: S101
        computing_ms = alone.summary.median
        beyond[computing_ms, count, size] = max(0.0, m.summary.median - computing_ms)
    short: dict[float, dict[float, float]] = {}
    for (computing_ms, count, size), ms in beyond.items():
        if size == shortest:
            short.setdefault(computing_ms, {})[count] = ms
    longer = {
        size: (ms - beyond[computing_ms, count, shortest]) / math.ceil(count / 2)
        for (computing_ms, count, size), ms in beyond.items()
    }
    return LateSums(short, longer)


def _lists(results: Results, algorithm: str) -> list[tuple[str, int, int, float]]:
    """The net and images of each computation, and the number and size of tensors behind it."""
    found = []
    for m in results.measurements:
        computation, tensors = names.computation(m.experiment), names.count_of(m.variant)
        if computation and tensors and tensors[0] == algorithm:
            found.append((*computation, tensors[1], m.x))
    return found
