"""Run the stage: `python -m stages.landscapes`."""

import sys

import numpy as np

from lab.core.files import CONDITIONS, REPORTS, write_json, write_rows
from lab.core.params import load
from lab.core.process import run
from lab.data.datasets import read_airfoil, read_source
from lab.optim import objectives
from lab.results.derived import write_metrics
from lab.results.measurements import Measurement, rows_of
from stages.landscapes import findings
from stages.landscapes.measure.flat_points import around_the_saddle, escapes, ways_down
from stages.landscapes.measure.params import LandscapeParams, Params
from stages.landscapes.measure.risks import argmin_gaps, overfitting, risk_minima, roughness


def measure(params: LandscapeParams, table: objectives.Array, seed: int) -> list[Measurement]:
    rng = np.random.default_rng(seed)
    return [
        *risk_minima(),
        *roughness(),
        *argmin_gaps(params.sample_sizes, params.num_draws, rng),
        *overfitting(table, params.train_rows, params.num_seeds, rng),
        *around_the_saddle(),
        *ways_down(params.num_seeds, params.num_draws, rng),
        *escapes(params.saddle_lr, params.saddle_noise, params.num_seeds, rng),
    ]


def main() -> None:
    """Measure and write the results; they are the same on any machine."""
    params = load(Params)
    measured = measure(params.landscapes, read_airfoil(), params.seed)
    folder = REPORTS / "landscapes"
    write_rows(folder, rows_of(measured))
    write_json(folder / CONDITIONS, {"airfoil": read_source()["airfoil"]})
    write_metrics(folder, findings)


if __name__ == "__main__":
    sys.exit(run(main))
