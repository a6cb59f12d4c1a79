"""Run the stage: `python -m stages.landscapes`."""

import sys
from collections.abc import Sequence

import numpy as np

from lab.core.files import REPORTS, Metrics, write_metrics, write_rows
from lab.core.params import load
from lab.core.process import run
from lab.data.datasets import read_airfoil, read_source
from lab.optim import objectives
from lab.results.curves import Curve, rows_of
from stages.landscapes.measure import names
from stages.landscapes.measure.overfitting import overfitting
from stages.landscapes.measure.params import LandscapeParams, Params
from stages.landscapes.measure.risks import argmin_gaps, risks
from stages.landscapes.measure.vanishing_gradients import (
    escapes,
    neighbours,
    shapes,
    spectra,
    ways_down,
)


def measure(params: LandscapeParams, table: objectives.Array, seed: int) -> list[Curve]:
    """The curves of all experiments."""
    rng = np.random.default_rng(seed)
    return [
        *risks(),
        *argmin_gaps(params.sample_sizes, params.num_draws, rng),
        *overfitting(table, params.train_rows, params.num_seeds, rng),
        *shapes(),
        *neighbours(),
        *spectra(params.dimensions, params.num_draws, rng),
        *ways_down(params.num_seeds, params.num_draws, rng),
        *escapes(params.saddle_lr, params.saddle_noise, params.num_seeds, rng),
    ]


def summarise(curves: Sequence[Curve]) -> Metrics:
    """Minima and their distance, and how soon descent leaves a saddle."""
    by_name = {(c.experiment, c.series): c for c in curves}
    risk = by_name[names.RISK_MINIMA, names.RISK]
    empirical = by_name[names.RISK_MINIMA, names.EMPIRICAL_RISK]
    gap = by_name[names.ARGMIN_GAP, names.DISTANCE]
    exponent = np.polyfit(np.log(gap.x), np.log(gap.y), 1)[0]
    escape = by_name[names.SADDLE_ESCAPE, names.GD]
    return {
        names.ARGMIN_RISK: round(float(risk.x[0]), 6),
        names.ARGMIN_EMPIRICAL_RISK: round(float(empirical.x[0]), 6),
        names.EXCESS_RISK: round(float(objectives.risk(empirical.x)[0] - risk.y[0]), 6),
        names.GAP_EXPONENT: round(float(exponent), 4),
        names.GD_STEPS: int(escape.y[np.abs(escape.x - 1e-6).argmin()]),
    }


def main() -> None:
    """Measure all experiments and write rows and metrics."""
    params = load(Params)
    curves = measure(params.landscapes, read_airfoil(), params.seed)
    metrics = {"airfoil": read_source()["airfoil"], **summarise(curves)}
    write_rows(REPORTS / "landscapes", rows_of(curves))
    write_metrics(REPORTS / "landscapes", metrics)


if __name__ == "__main__":
    sys.exit(run(main))
