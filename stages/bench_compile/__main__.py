"""Run the stage: `python -m stages.bench_compile`."""

import sys

from lab.core.params import load
from lab.core.process import run
from lab.machine.compiler_cache import empty_compiler_cache
from lab.machine.devices import resolve
from lab.machine.fresh_process import preload
from lab.timing.runner import Benchmark
from stages.bench_compile import findings
from stages.bench_compile.measure.building import measure_building
from stages.bench_compile.measure.forms import mlp
from stages.bench_compile.measure.params import Params
from stages.bench_compile.measure.program import measure_folding
from stages.bench_compile.measure.saved import measure_cpp, measure_saved
from stages.bench_compile.measure.times import measure


def main() -> None:
    """Build the forms, time them in fresh processes, load the saved ones, write the files.

    Loading comes last: by then, new processes start with the compilers imported.
    """
    params = load(Params)
    devices = resolve(1, params.devices)
    benchmark = Benchmark("bench_compile", devices)
    with empty_compiler_cache() as folder:
        built, crashes = measure_building(params, devices, folder)
        if params.bench_compile.compilers:  # only now: the time to build includes their import
            preload(["lab.machine.inductor"])
        measured = benchmark.repeat(params.bench.starts, measure, crashes)
        net = mlp(params.seed).to(devices.devices[0])
        loaded = measure_saved(net, params.seed, devices, folder)
        in_cpp = measure_cpp(net, params.bench_compile.compilers, devices, folder)
    once = [*measure_folding(devices), *built, *loaded, in_cpp]
    benchmark.write([*measured, *once], findings)


if __name__ == "__main__":
    sys.exit(run(main))
