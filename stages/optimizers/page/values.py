"""What the page on optimizers names: numbers, and what they decide."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from lab.report.benchmarks import read
from lab.results.measurements import Cell, Curve, Measurement, Results, curve_of
from lab.results.stats import POSITIVE, Ratio, median_of, speedup
from stages.optimizers.measure.names import ADAGRAD_LOWER_PERCENT, COUNTING, DECAYING, RULES

OF_TIMES = False  # the page tells none
OUTCOMES = {
    "learning_rate_first": (True, False),
    "separated": (True, False),
    "synthetic": (False, True),
}


class Run(NamedTuple):
    """An airfoil run by its columns."""

    rule: str
    rate: float
    batch_size: float = 10
    version: str = "from scratch"


def values(folder: Path) -> dict[str, object]:
    """The values of `folder` (reports/optimizers)."""
    results, m = read(folder)
    scaled, rare = (sgd_over_adagrad(results, problem) for problem in ("ill", "sparse"))
    losses = [m["airfoil_minimum"] + c.y[-1] for c in airfoil_runs(results).values()]
    overlapping, pairs = overlapping_pairs(results)
    spread, too_small = spread_of_optimizers(results), cost_of_small_rates(results)
    return {
        "wins": m[ADAGRAD_LOWER_PERCENT[0]] / 100,
        "wins_rotated": m[ADAGRAD_LOWER_PERCENT[45]] / 100,
        "wins_at_equal_rates": wins_at_equal_rates(results),
        "directions": len(results.series("starts", "GD", turned=0)),
        "seeds": len(_samples(results, "best_rate", "SGD", problem="airfoil")),
        "least": np.nanmin(losses),
        "most": np.nanmax(losses),
        "minimum": m["airfoil_minimum"],
        "overlapping": overlapping,
        "pairs": pairs,
        "spread": spread,
        "too_small": too_small,
        "learning_rate_first": too_small > spread,
        "scaled": scaled,
        "rare": rare,
        "separated": scaled.verdict == rare.verdict == "faster",  # SGD ends above AdaGrad
        "left": errors_left(results),
        "averaged": median_of(
            _samples(results, "gradient_averages", "effective samples of momentum 0.9"), POSITIVE
        ),
        "concise": concise_over_scratch(results),
        "boundary_error": boundary_error(results),
        "synthetic": m["airfoil"] == "synthetic",
    }


def wins_at_equal_rates(results: Results) -> float:
    """The share of directions from which AdaGrad ends lower, both at 0.4, on the original axes."""
    adagrad, gd = (
        results.curves("starts", rate=0.4, turned=0)[rule].y for rule in ("AdaGrad", "GD")
    )
    return float((adagrad < gd).mean())


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


def spread_of_optimizers(results: Results) -> float:
    """The largest median excess on airfoil over the least, all optimizers at their best rates."""
    best = [np.median(_samples(results, "best_rate", rule, problem="airfoil")) for rule in RULES]
    return float(np.nanmax(best) / np.nanmin(best))


def cost_of_small_rates(results: Results) -> float:
    """By what factor a tenth of its best rate raises the median excess on airfoil: the least."""
    found = []
    for c in results.curves("rates", problem="airfoil").values():
        best = int(np.nanargmin(c.y))
        tenth = np.exp(np.interp(np.log(c.x[best] / 10), np.log(c.x), np.log(c.y)))
        found.append(tenth / c.y[best])
    return float(min(found))


def sgd_over_adagrad(results: Results, problem: str) -> Ratio:
    """How many times AdaGrad's excess SGD's is, each at its best rate, paired by seed."""
    return speedup(
        *(_samples(results, "best_rate", rule, problem=problem) for rule in ("SGD", "AdaGrad"))
    )


def errors_left(results: Results) -> dict[str, float]:
    """What share of rare features' squared error is left."""
    names = {"steps": DECAYING, "counts": COUNTING, "adagrad": "AdaGrad"}
    return {
        key: float(np.median(_samples(results, "group_errors", name, features="rare")))
        for key, name in names.items()
    }


def concise_over_scratch(results: Results) -> Ratio:
    """How many times the excess of the notes' momentum run their concise one ends with."""
    run = {"rate": 0.005, "x": 2}
    return speedup(
        *(
            _samples(results, "airfoil_runs", "momentum 0.9", version=version, **run)
            for version in ("concise", "from scratch")
        )
    )


def boundary_error(results: Results) -> float:
    """How far the measured boundary of momentum's stability is from 2 + 2β at most."""
    boundary = results.curves("stability_boundary")
    error = np.abs(boundary["measured"].y - boundary["2 + 2β"].y).max()
    return max(float(error), 1e-6)


def _samples(
    results: Results, experiment: str, variant: str, x: float | None = None, **columns: Cell
) -> tuple[float, ...]:
    """Of one measurement: a value of each seed.

    Raises:
        ValueError: there is none, or several.
    """
    [found] = [m for m in results.series(experiment, variant, **columns) if x in (None, m.x)]
    return tuple(found.values)
