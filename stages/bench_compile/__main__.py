"""Run the stage: `python -m stages.bench_compile`."""

import sys
from pathlib import Path

from lab.core.params import load
from lab.core.process import run
from lab.machine.devices import Devices, resolve
from lab.results.measurements import Measurement
from lab.timing.runner import Benchmark
from stages.bench_compile import findings
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


def main() -> None:
    """Measure, the forms built before the processes that time them, and write the files."""
    params = load(Params)
    devices = resolve(1, params.devices)
    benchmark = Benchmark("bench_compile", devices)
    with empty_compiler_cache() as folder:
        built = measure_once(params, devices, folder)
        # it imports the compilers, which takes seconds: first use pays for that
        from stages.bench_compile.measure.times import measure

        measured = benchmark.repeat(params.bench.starts, measure)
        benchmark.write([*measured, *built], findings)


if __name__ == "__main__":
    sys.exit(run(main))
