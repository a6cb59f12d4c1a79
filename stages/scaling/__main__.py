"""Run the stage: `python -m stages.scaling`."""

import sys
from collections.abc import Sequence

from lab.core.exit_codes import run
from lab.core.files import REPORTS, write_metrics, write_rows
from lab.core.params import load
from lab.machine.devices import for_ranks
from lab.parallel.allreduce_times import gradient_lengths
from lab.parallel.cost_model import step_bounds
from lab.parallel.link_fit import fit_both
from lab.results.measurements import Measurement, Results, rows_of
from lab.timing import bench
from stages.scaling import names
from stages.scaling.heldout_steps import measure_steps
from stages.scaling.params import Params
from stages.scaling.predictor import (
    compute_of,
    crossing,
    fit_machines,
    measured_steps,
    predict,
    t2_ms,
)
from stages.scaling.simulated_scaling import simulate
from stages.scaling.step_parts import measure_parts


def summarise(measurements: Sequence[Measurement], n: int) -> dict[str, float | str]:
    """How far the predictions are off, and what LeNet's parts are, summed as in the notes."""
    results = Results(measurements)
    steps = measured_steps(results)
    of_sum = [100 * abs(step.error) for step in steps]
    of_max = [
        100 * abs(step_bounds(step.t1, step.t2)[0] / step.measured.summary.median - 1)
        for step in steps
    ]
    fit, _ = fit_both([m for m in measurements if m.demo == names.MESSAGE], n)
    lenet = compute_of(results, "lenet")
    return {
        names.WORLD_SIZE: n,
        names.MEAN_ERROR: round(sum(of_sum) / len(of_sum), 3),
        names.MAX_ERROR: round(max(of_sum), 3),
        names.MAX_RULE_MEAN_ERROR: round(sum(of_max) / len(of_max), 3),
        names.LINK: names.SHARED if fit.shared else names.OWN,
        names.LENET_FIXED: round(1e3 * lenet.fixed_s, 4),
        names.LENET_PER_IMAGE: round(1e6 * lenet.per_image_s, 4),
        names.LENET_T2: round(t2_ms(results, "lenet", names.BY_NOTES), 4),
        names.LENET_CROSSING: round(crossing(results, "lenet", names.BY_NOTES, n), 2),
    }


def main() -> None:
    """Measure the parts, predict the steps, write that down, and only then measure the steps."""
    params = load(Params)
    p = params.scaling
    watch, devices = bench.Watch(), for_ranks([p.world_size], params.devices)
    parts = measure_parts(p, devices)
    gradients = {net: gradient_lengths(net) for net in p.nets}
    machines = fit_machines(parts, p.world_size, gradients)
    steps = predict(p, machines)
    write_rows(REPORTS / "scaling", [step.row for step in steps], "predictions.csv")
    measured = [
        *parts,
        *measure_steps(steps, p, devices, params.bench.aa_runs),
        *simulate(machines),
    ]
    write_rows(REPORTS / "scaling", rows_of(measured))
    head = bench.conditions(measured, devices, watch)
    write_metrics(REPORTS / "scaling", head | summarise(measured, p.world_size))


if __name__ == "__main__":
    sys.exit(run(main))
