"""Run the stage: `python -m stages.landscapes`."""

import sys
from collections.abc import Sequence

import numpy as np

from lab.core.exit_codes import run
from lab.core.files import REPORTS, Metrics, write_metrics, write_rows
from lab.core.params import load
from lab.optim import objectives
from lab.results.curves import Curve, rows_of
from stages.landscapes import names
from stages.landscapes.params import LandscapeParams, Params
from stages.landscapes.risks import argmin_gaps, risks
from stages.landscapes.vanishing_gradients import escapes, shapes, spectra


def measure(params: LandscapeParams, seed: int) -> list[Curve]:
    """The curves of all demos."""
    rng = np.random.default_rng(seed)
    return [
        *risks(),
        *argmin_gaps(params.sample_sizes, params.num_draws, rng),
        *shapes(),
        *spectra(params.dimensions, params.num_draws, rng),
        *escapes(params.saddle_lr, params.saddle_noise, rng),
    ]


def summarise(curves: Sequence[Curve]) -> Metrics:
    """Minima and their distance, the saddle's curvatures, and how long descent stays on it."""
    by_name = {(c.demo, c.series): c for c in curves}
    risk = by_name[names.RISK_MINIMA, names.RISK]
    empirical = by_name[names.RISK_MINIMA, names.EMPIRICAL_RISK]
    gap = by_name[names.ARGMIN_GAP, names.DISTANCE]
    exponent = np.polyfit(np.log(gap.x), np.log(gap.y), 1)[0]
    # the gradient is linear: at the unit vectors it is the Hessian's columns
    low, high = np.linalg.eigvalsh(objectives.saddle_gradient(np.eye(2)))
    return {
        names.ARGMIN_RISK: round(float(risk.x[0]), 6),
        names.ARGMIN_EMPIRICAL_RISK: round(float(empirical.x[0]), 6),
        names.EXCESS_RISK: round(float(objectives.risk(empirical.x)[0] - risk.y[0]), 6),
        names.GAP_EXPONENT: round(float(exponent), 4),
        names.SADDLE_EIGENVALUE_LOW: float(low),
        names.SADDLE_EIGENVALUE_HIGH: float(high),
        names.GD_STEPS_FROM_0: int(by_name[names.SADDLE_ESCAPE, names.GD].y[-1]),
    }


def main() -> None:
    """Measure all demos and write rows and metrics."""
    params = load(Params)
    curves = measure(params.landscapes, params.seed)
    write_rows(REPORTS / "landscapes", rows_of(curves))
    write_metrics(REPORTS / "landscapes", summarise(curves))


if __name__ == "__main__":
    sys.exit(run(main))
