"""Run the stage: `python -m stages.bench_compile`."""

import sys
from collections.abc import Sequence
from pathlib import Path

from lab.core.files import REPORTS, write_metrics, write_rows
from lab.core.params import load
from lab.core.process import run
from lab.machine.devices import Devices, resolve
from lab.machine.hardware import write_conditions
from lab.results.measurements import Measurement, Results, rows_of
from lab.timing.bench import ratio_metrics, speedup_of
from lab.timing.conditions import LoadMonitor, conditions
from lab.timing.runner import measure_in_starts
from stages.bench_compile.measure import names, one_start
from stages.bench_compile.measure.compiled_forms import empty_compiler_cache, mlp
from stages.bench_compile.measure.form_times import measure_building
from stages.bench_compile.measure.front_end import measure_front_end
from stages.bench_compile.measure.params import Params
from stages.bench_compile.measure.program_times import measure_folding
from stages.bench_compile.measure.saved_forms import measure_saved


def measure_once(params: Params, devices: Devices, folder: Path) -> list[Measurement]:
    """What does not vary, and what is built from an empty cache: one sample of each."""
    net = mlp(params.seed).to(devices.devices[0])
    return [
        *measure_folding(devices),
        *measure_building(net, params, devices, folder),
        *measure_saved(net, params.seed, devices, folder),
        measure_front_end(net, params.bench_compile.compilers, devices, folder),
    ]


def summarise(measurements: Sequence[Measurement]) -> dict[str, float | str]:
    """Speed-ups of what the notes compile, at the smallest batch, and whether outputs are equal."""
    results = Results(measurements)
    metrics: dict[str, float | str] = {}
    for name, experiment, old_variant, new_variant in (
        (names.SCRIPT_SPEEDUP, names.CALL, names.EAGER, names.SCRIPT),
        (names.COMPILE_SPEEDUP, names.CALL, names.INFERENCE, names.COMPILE),
        (names.FOLDED_SPEEDUP, names.PROGRAM, names.TEXT, names.FOLDED),
    ):
        old, new = results.one(experiment, old_variant), results.one(experiment, new_variant)
        if old and new:
            metrics |= ratio_metrics(name, speedup_of(old, new))
    if built := results.one(names.BUILD, names.COMPILE):
        metrics[names.COMPILE_BUILD_S] = round(built.values[0], 3)
    compared = (names.DIFFERENCE, names.SAVED_DIFFERENCE)
    differences = [m.values[0] for m in measurements if m.experiment in compared and m.values]
    same = max(differences, default=0) <= names.TOLERANCE
    return metrics | {names.SAME_OUTPUTS: "yes" if same else "no"}


def main() -> None:
    """Measure, the forms built before the starts that time them, and write rows and metrics."""
    params = load(Params)
    watch, devices = LoadMonitor(), resolve(1, params.devices)
    starts = params.bench.starts
    with empty_compiler_cache() as folder:
        once = measure_once(params, devices, folder)
        measured = [*measure_in_starts(one_start, starts), *once]
    write_rows(REPORTS / "bench_compile", rows_of(measured))
    met = conditions(measured, devices, watch, starts)
    write_conditions(REPORTS / "bench_compile")
    write_metrics(REPORTS / "bench_compile", met | summarise(measured))


if __name__ == "__main__":
    sys.exit(run(main))
