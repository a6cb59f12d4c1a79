"""Run the stage: `python -m stages.bench_compile`."""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import torch

from lab.core.exit_codes import run
from lab.core.files import REPORTS, write_metrics, write_rows
from lab.core.params import load
from lab.machine.devices import Devices, resolve
from lab.results.measurements import Measurement, Results, rows_of
from lab.timing import bench
from stages.bench_compile import names
from stages.bench_compile.compiled_forms import NUM_INPUTS, empty_compiler_cache, mlp
from stages.bench_compile.form_times import measure_forms
from stages.bench_compile.params import Params
from stages.bench_compile.program_times import measure_program
from stages.bench_compile.saved_forms import measure_saved


def measure(params: Params, devices: Devices) -> list[Measurement]:
    """Measure the notes' program, their network in each form, and the saved forms."""
    net = mlp(params.seed).to(devices.devices[0])
    with empty_compiler_cache(), tempfile.TemporaryDirectory() as folder:
        measured = [
            *measure_program(devices, params.bench),
            *measure_forms(net, params, devices, Path(folder)),
            *measure_saved(net, params.seed, devices, Path(folder)),
        ]
    X = torch.randn(1, NUM_INPUTS).to(devices.devices[0])
    return measured + bench.noise_control(lambda: net(X), devices, params.bench)


def summarise(measurements: Sequence[Measurement]) -> dict[str, float | str]:
    """Speed-ups of what the notes compile, at the smallest batch, and whether outputs are equal."""
    results = Results(measurements)
    metrics: dict[str, float | str] = {}
    for name, demo, old_arm, new_arm in (
        (names.SCRIPT_SPEEDUP, names.CALL, names.EAGER, names.SCRIPT),
        (names.COMPILE_SPEEDUP, names.CALL, names.INFERENCE, names.COMPILE),
        (names.FOLDED_SPEEDUP, names.PROGRAM, names.TEXT, names.FOLDED),
    ):
        old, new = results.one(demo, old_arm), results.one(demo, new_arm)
        if old and new:
            metrics |= bench.ratio_metrics(name, bench.speedup_of(old, new))
    if built := results.one(names.BUILD, names.COMPILE):
        metrics[names.COMPILE_BUILD_S] = round(built.values[0], 3)
    compared = (names.DIFFERENCE, names.SAVED_DIFFERENCE)
    differences = [m.values[0] for m in measurements if m.demo in compared and m.values]
    same = max(differences, default=0) <= names.TOLERANCE
    return metrics | {names.SAME_OUTPUTS: "yes" if same else "no"}


def main() -> None:
    """Measure and write rows and metrics."""
    params = load(Params)
    watch, devices = bench.Watch(), resolve(1, params.devices)
    measured = measure(params, devices)
    write_rows(REPORTS / "bench_compile", rows_of(measured))
    conditions = bench.conditions(measured, devices, watch)
    write_metrics(REPORTS / "bench_compile", conditions | summarise(measured))


if __name__ == "__main__":
    sys.exit(run(main))
