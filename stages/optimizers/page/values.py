"""What the page on optimizers names beside findings."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from lab.results.findings import Finding
from lab.results.measurements import Curve, Measurement, Results, curve_of
from stages.optimizers.measure.names import RULES

OF_TIMES = False  # the page tells none
OUTCOMES = {"synthetic": (False, True)}


class Run(NamedTuple):
    """An airfoil run by its columns."""

    rule: str
    rate: float
    batch_size: float = 10
    version: str = "from scratch"


def values(results: Results, found: Mapping[str, Finding]) -> dict[str, object]:
    minimum = results.conditions["airfoil_minimum"]
    losses = [minimum + c.y[-1] for c in airfoil_runs(results).values()]
    overlapping, pairs = overlapping_pairs(results)
    return {
        "directions": len(results.xs("starts", "GD", turned=0)),
        "optimizers": len(RULES),
        "seeds": len(results.samples("best_rate", "SGD", problem="airfoil").values),
        "least": np.nanmin(losses),
        "most": np.nanmax(losses),
        "minimum": minimum,
        "overlapping": overlapping,
        "pairs": pairs,
        "boundary_error": boundary_error(results),
        "synthetic": results.conditions["airfoil"] == "synthetic",
    }


def airfoil_runs(results: Results) -> dict[Run, Curve]:
    """The excess of each of the notes' runs against epochs."""
    found: dict[Run, list[Measurement]] = {}
    for m in results.measurements:
        if m.experiment == "airfoil_runs" and m.columns["version"] != "torch's optimizer":
            rate, batch_size, version = (m.columns[k] for k in ("rate", "batch_size", "version"))
            run = Run(m.variant, float(rate), float(batch_size), str(version))
            found.setdefault(run, []).append(m)
    return {run: curve_of(series) for run, series in found.items()}


def overlapping_pairs(results: Results) -> tuple[int, int]:
    """How many pairs of the airfoil runs' interquartile ranges overlap, and how many there are."""
    ends = [(c.low[-1], c.high[-1]) for c in airfoil_runs(results).values()]
    found = [a[0] <= b[1] and b[0] <= a[1] for i, a in enumerate(ends) for b in ends[:i]]
    return int(sum(found)), len(found)


def boundary_error(results: Results) -> float:
    """How far the measured boundary of momentum's stability is from 2 + 2β at most."""
    boundary = results.curves("stability_boundary")
    error = np.abs(boundary["measured"].y - boundary["2 + 2β"].y).max()
    return max(float(error), 1e-6)
