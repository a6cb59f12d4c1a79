"""Run the stage: `python -m stages.landscapes`."""

import sys

import numpy as np

from lab.core.files import REPORTS, Metrics, write_metrics, write_rows
from lab.core.params import load
from lab.core.process import run
from lab.data.datasets import read_airfoil, read_source
from lab.optim import objectives
from lab.results.measurements import Measurement, Results, rows_of
from stages.landscapes.measure.flat_points import escapes, neighbours, ways_down
from stages.landscapes.measure.params import LandscapeParams, Params
from stages.landscapes.measure.risks import argmin_gaps, overfitting, risk_minima


def measure(params: LandscapeParams, table: objectives.Array, seed: int) -> list[Measurement]:
    """All experiments."""
    rng = np.random.default_rng(seed)
    return [
        *risk_minima(),
        *argmin_gaps(params.sample_sizes, params.num_draws, rng),
        *overfitting(table, params.train_rows, params.num_seeds, rng),
        *neighbours(),
        *ways_down(params.num_seeds, params.num_draws, rng),
        *escapes(params.saddle_lr, params.saddle_noise, params.num_seeds, rng),
    ]


def summarise(results: Results) -> Metrics:
    """Minima and their distance, and how soon descent leaves a saddle."""
    minima = results.curves("risk_minimum")
    risk, empirical = minima["risk"], minima["empirical risk"]
    gap = results.curves("argmin_gap", quantile=0.5)["distance of the minimisers"]
    escape = results.curves("saddle_escape")["GD"]
    return {
        "argmin_risk": round(float(risk.x[0]), 6),
        "argmin_empirical_risk": round(float(empirical.x[0]), 6),
        "excess_risk": round(float(objectives.risk(empirical.x)[0] - risk.y[0]), 6),
        "gap_exponent": round(float(np.polyfit(np.log(gap.x), np.log(gap.y), 1)[0]), 4),
        "escape_steps_gd_from_a_millionth": int(escape.y[np.abs(escape.x - 1e-6).argmin()]),
    }


def main() -> None:
    """Measure, and write rows and metrics; they are the same on any machine."""
    params = load(Params)
    measured = measure(params.landscapes, read_airfoil(), params.seed)
    write_rows(REPORTS / "landscapes", rows_of(measured))
    write_metrics(
        REPORTS / "landscapes",
        {"airfoil": read_source()["airfoil"], **summarise(Results(measured))},
        compared=("gap_exponent", "escape_steps_gd_from_a_millionth"),
    )


if __name__ == "__main__":
    sys.exit(run(main))
