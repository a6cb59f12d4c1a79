"""What the page on landscapes names: numbers, and what they decide."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from lab.report.benchmarks import read
from lab.results.measurements import Curve, Results
from lab.results.stats import Ratio, speedup

OUTCOMES = {"rises": (True, False), "synthetic": (False, True)}
NEAR = 1e-6  # from the line on which descent stays
FEW, MANY = 2, 10  # dimensions


def values(folder: Path) -> dict[str, object]:
    """The values of `folder` (reports/landscapes)."""
    results, m = read(folder)
    *_, training = results.series("overfitting", "rows trained on")
    *_, others = results.series("overfitting", "other rows")
    [at_best] = results.series("best_step", "other rows")
    price, distance = error_at_the_end(results), gap(results)
    escape = results.curves("saddle_escape")
    return {
        "rises": price.verdict == "faster",  # the error from the best step to the end
        "synthetic": m["airfoil"] == "synthetic",
        "price": price,
        "level": round(100 * price.level),
        "seeds": price.count,
        "best_step": int(at_best.x),
        "last_step": int(others.x),
        "training": training.summary.median,
        "others": others.summary.median,
        "at_best": at_best.summary.median,
        "fewest": int(distance.x[0]),
        "most": int(distance.x[-1]),
        "far": float(distance.y[0]),
        "close": float(distance.y[-1]),
        "exponent": m["gap_exponent"],
        "excess": m["excess_risk"],
        "noisy": float(results.curves("noisy_escape")["GD with noise"].y[0]),
        "plain": m["escape_steps_gd_from_a_millionth"],
        "momentum": int(at(escape["momentum 0.9"], NEAR)),
        "adam": int(at(escape["Adam"], NEAR)),
        "few": FEW,
        "many": MANY,
        "down": {
            name: [share_down(results, name, d) for d in (FEW, MANY)]
            for name in ("one way down", "random")
        },
    }


def error_at_the_end(results: Results) -> Ratio:
    """The error on other rows at the end of descent, relative to that at the best step."""
    *_, others = results.series("overfitting", "other rows")
    [at_best] = results.series("best_step", "other rows")
    return speedup(others.values, at_best.values)


def gap(results: Results) -> Curve:
    """How far the minimum of n examples lies from the true one: median, and middle 50% of draws."""
    low, middle, high = (
        results.curves("argmin_gap", quantile=q)["distance of the minimisers"]
        for q in (0.25, 0.5, 0.75)
    )
    return replace(middle, low=low.y, high=high.y)


def share_down(results: Results, saddle: str, dimension: int) -> float:
    """The median share of random directions that lead down from a saddle."""
    [found] = results.series("ways_down", saddle, dimension=dimension)
    return found.summary.median


def at(c: Curve, x: float) -> float:
    """The curve's value at the point nearest to x."""
    return float(c.y[np.abs(c.x - x).argmin()])
