"""What the page on landscapes names beside findings."""

from collections.abc import Mapping
from dataclasses import replace

from lab.results.findings import Finding, Over, median
from lab.results.measurements import Curve, Results
from stages.landscapes.findings import FEW, LAST_STEP, MANY

OUTCOMES = {"synthetic": (False, True)}


def values(results: Results, found: Mapping[str, Finding]) -> dict[str, object]:
    distance = gap(results)

    def share_down(saddle: str, dimension: int) -> float:
        shares = results.samples("ways_down", saddle, dimension=dimension)
        return median(shares, over=Over.SEEDS).value

    return {
        "synthetic": results.conditions["airfoil"] == "synthetic",
        "seeds": found["price"].n,
        "best_step": int(results.xs("best_step", "other rows")[0]),
        "last_step": LAST_STEP,
        "fewest": int(distance.x[0]),
        "most": int(distance.x[-1]),
        "far": float(distance.y[0]),
        "close": float(distance.y[-1]),
        "steps": {
            rule: int(found[f"escape_steps_{rule}_from_a_millionth"].value)
            for rule in ("gd", "momentum", "adam")
        },
        "few": FEW,
        "many": MANY,
        "down": {
            name: [share_down(name, d) for d in (FEW, MANY)] for name in ("one way down", "random")
        },
    }


def gap(results: Results) -> Curve:
    """How far the minimum of n examples lies from the true one: median, and middle 50% of draws."""
    low, middle, high = (
        results.curves("argmin_gap", quantile=q)["distance of the minimisers"]
        for q in (0.25, 0.5, 0.75)
    )
    return replace(middle, low=low.y, high=high.y)
