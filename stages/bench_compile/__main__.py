"""Run the stage: `python -m stages.bench_compile`."""

import sys
from pathlib import Path

from lab.core.files import Metrics
from lab.core.params import load
from lab.core.process import run
from lab.machine.devices import Devices, resolve
from lab.results.measurements import Measurement, Results
from lab.timing.bench import ratio_metrics, speedup_of
from lab.timing.runner import run_benchmark
from stages.bench_compile.measure import names
from stages.bench_compile.measure.building import measure_building
from stages.bench_compile.measure.forms import empty_compiler_cache, mlp
from stages.bench_compile.measure.params import Params
from stages.bench_compile.measure.program import measure_folding
from stages.bench_compile.measure.saved import measure_cpp, measure_saved


def measure_once(params: Params, devices: Devices, folder: Path) -> list[Measurement]:
    """What does not vary, and what is built from an empty cache: one sample of each."""
    net = mlp(params.seed).to(devices.devices[0])
    return [
        *measure_folding(devices),
        *measure_building(net, params, devices, folder),
        *measure_saved(net, params.seed, devices, folder),
        measure_cpp(net, params.bench_compile.compilers, devices, folder),
    ]


def summarise(results: Results) -> Metrics:
    """Speed-ups of what the notes compile, at the smallest batch, and whether outputs are equal."""
    metrics: dict[str, float | str] = {}
    for name, experiment, old_variant, new_variant in (
        (names.SCRIPT_SPEEDUP, "call", names.EAGER, names.SCRIPT),
        (names.COMPILE_SPEEDUP, "call", names.INFERENCE, names.COMPILE),
        (names.FOLDED_SPEEDUP, "program", "text", "folded first"),
    ):
        old, new = results.one(experiment, old_variant), results.one(experiment, new_variant)
        if old and new:
            metrics |= ratio_metrics(name, speedup_of(old, new))
    if built := results.one("build", names.COMPILE):
        metrics[names.COMPILE_BUILD_S] = round(built.values[0], 3)
    compared = ("difference", "saved_difference")
    differences = [m.values[0] for m in results.measurements if m.experiment in compared]
    same = max(differences, default=0) <= names.TOLERANCE
    return metrics | {names.SAME_OUTPUTS: "yes" if same else "no"}


def main() -> None:
    """Measure, the forms built before the processes that time them, and write the files."""
    params = load(Params)
    devices = resolve(1, params.devices)
    with empty_compiler_cache() as folder:
        built = measure_once(params, devices, folder)
        # it imports the compilers, which takes seconds: first use pays for that
        from stages.bench_compile.measure.times import measure

        run_benchmark(
            "bench_compile",
            devices,
            params.bench.starts,
            measure,
            summarise,
            compared=(
                names.SCRIPT_SPEEDUP,
                names.COMPILE_SPEEDUP,
                names.FOLDED_SPEEDUP,
                names.COMPILE_BUILD_S,
            ),
            once=lambda measured: built,
        )


if __name__ == "__main__":
    sys.exit(run(main))
