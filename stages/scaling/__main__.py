"""Run the stage: `python -m stages.scaling`."""

import sys
from collections.abc import Mapping, Sequence

from lab.core.files import REPORTS, write_metrics, write_rows
from lab.core.params import load
from lab.core.process import run
from lab.machine.devices import for_ranks
from lab.machine.hardware import write_conditions
from lab.parallel.allreduce.times import gradient_lengths
from lab.parallel.link_fit import fit_both
from lab.results.measurements import Measurement, Results, rows_of
from lab.timing.conditions import LoadMonitor, conditions
from stages.scaling.measure import names
from stages.scaling.measure.clusters import simulate_clusters
from stages.scaling.measure.notes_batch import at_notes_batch
from stages.scaling.measure.params import Params
from stages.scaling.measure.predictor import (
    compared_steps,
    coverage,
    fit_machines,
    in_a_row,
    mean_error,
    noise_floor,
    predict,
)
from stages.scaling.measure.simulated_scaling import simulate
from stages.scaling.measure.variants import measure


def derived(
    measured: Sequence[Measurement], n: int, gradients: Mapping[str, Sequence[int]]
) -> list[Measurement]:
    """What follows from the times of each start: predictions, and times at the notes' batch."""
    return [*predict(measured, gradients), *at_notes_batch(Results(measured), n)]


def summarise(measurements: Sequence[Measurement], n: int) -> dict[str, float | str]:
    """The link, and how far the predictions are off."""
    results = Results(measurements)
    fit, _ = fit_both([m for m in measurements if m.experiment == names.MESSAGE], n)
    steps = compared_steps(results)
    worst = max(100 * abs(step.error) for step in steps)
    return {
        names.WORLD_SIZE: n,
        names.LINK: names.SHARED if fit.shared else names.OWN,
        names.MEAN_ERROR: round(mean_error(steps, names.SUM_RULE), 4),
        names.LARGEST_ERROR: round(worst, 4),
        names.NOISE_FLOOR: round(noise_floor(results), 4),
        names.COVERAGE: round(coverage(steps), 2),
        names.IN_A_ROW_ERROR: round(100 * in_a_row(results, steps).error, 4),
        names.MAX_RULE_MEAN_ERROR: round(mean_error(steps, names.MAX_RULE), 4),
    }


def main() -> None:
    """Measure all parts and steps in turn, in several starts; predict the ones by the others."""
    params = load(Params)
    p = params.scaling
    watch, devices = LoadMonitor(), for_ranks([p.world_size], params.devices)
    measured = measure(p, params.bench, devices)
    gradients = {net: gradient_lengths(net) for net in names.NETS}
    rows = [
        *measured,
        *derived(measured, p.world_size, gradients),
        *simulate(fit_machines(measured, p.world_size, gradients)),
        *simulate_clusters(),
    ]
    write_rows(REPORTS / "scaling", rows_of(rows))
    head = conditions(measured, devices, watch, params.bench.starts, jobs_at_once=2)
    write_conditions(REPORTS / "scaling")
    write_metrics(REPORTS / "scaling", head | summarise(rows, p.world_size))


if __name__ == "__main__":
    sys.exit(run(main))
