"""The numbers derived from landscapes' rows."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from lab.optim import objectives
from lab.results.findings import Finding, Over, Samples, combine, exact, median, ratio
from lab.results.measurements import Results

METRICS = ("gap_exponent", "escape_steps_gd_from_a_millionth")
LAST_STEP = 100_000
NEAR = 1e-6  # to the line that descent never leaves
FEW, MANY = 2, 10  # dimensions


def findings(results: Results) -> dict[str, Finding]:
    error = partial(median, over=Over.SEEDS, better="less")

    def argmin(function: str) -> Samples:
        xs = results.xs("risk_minimum", function)
        return replace(results.samples("risk_minimum", function), values=tuple(xs))

    def escape_steps(rule: str) -> Finding:
        return exact(results.samples("saddle_escape", rule, NEAR), "steps")

    training, others = (
        results.samples("overfitting", rows, LAST_STEP)
        for rows in ("rows trained on", "other rows")
    )
    at_best = results.samples("best_step", "other rows")
    of_distances = ("argmin_gap", "distance of the minimisers")
    distances = results.samples(*of_distances, quantile=0.5)
    many_down, few_down = (
        results.samples("ways_down", "one way down", dimension=d) for d in (MANY, FEW)
    )
    return {
        "price": ratio(others, at_best, "times the error at the best step", Over.SEEDS),
        "training_error": error(training),
        "new_error": error(others),
        "best_error": error(at_best),
        "minima_apart": exact(
            combine(lambda a, b: abs(a - b), argmin("risk"), argmin("empirical risk")),
            "apart on the x axis",
        ),
        "roughness": exact(
            results.samples("roughness", "empirical risk") / results.samples("roughness", "risk"),
            "times the largest curvature",
        ),
        "excess_risk": exact(
            combine(
                lambda least, x: float(objectives.risk(np.array(x))) - least,
                results.samples("risk_minimum", "risk"),
                argmin("empirical risk"),
            )
        ),
        "gap_exponent": exact(exponent(results.xs(*of_distances, quantile=0.5), distances)),
        "cube_lower_percent": exact(
            results.samples("around_the_saddle", "x³") * 100, "% of the neighbors are lower"
        ),
        # a share may be 0, but a `ratio` may not
        "ways_down": median(many_down / few_down, "times the share in 2 dimensions", Over.SEEDS),
        "escape_steps_gd_from_a_millionth": escape_steps("GD"),
        "escape_steps_momentum_from_a_millionth": escape_steps("momentum 0.9"),
        "escape_steps_adam_from_a_millionth": escape_steps("Adam"),
        "noisy_escape_steps": median(
            results.samples("noisy_escape", "GD with noise"), "steps", Over.SEEDS
        ),
    }


def exponent(x: Sequence[float], y: Samples) -> Samples:
    """Return p such that y grows like x^p."""
    if not y:
        return y
    return replace(y, values=(float(np.polyfit(np.log(x), np.log(y.values), 1)[0]),))
