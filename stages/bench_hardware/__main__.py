"""Run the stage: `python -m stages.bench_hardware`."""

import sys
from collections.abc import Mapping

from lab.core.params import load
from lab.core.process import run
from lab.machine.devices import processor, usable_cores
from lab.nets.flops import Cost
from lab.results.measurements import Measurement
from lab.timing.runner import Benchmark
from stages.bench_hardware import findings
from stages.bench_hardware.measure.arithmetic import measure_adding, measure_matmul
from stages.bench_hardware.measure.memory import (
    measure_latency,
    measure_order,
    measure_reuse,
    measure_stride,
)
from stages.bench_hardware.measure.params import Params
from stages.bench_hardware.measure.roofline import (
    costs_of,
    count_flop,
    measure_networks,
    measure_roof,
    measure_stems,
    network_device,
)
from stages.bench_hardware.measure.transfers import measure_transfers


def measure(process: int, params: Params, costs: Mapping[str, Cost]) -> list[Measurement]:
    target, one_core = network_device(params), processor(1)
    return [
        *measure_latency(params, one_core, process),
        *measure_reuse(params, one_core, process),
        *measure_order(params, one_core, process),
        *measure_stride(params, one_core, process),
        *measure_matmul(params, one_core, process),
        *measure_adding(params, one_core, process),
        *measure_roof(params, target, usable_cores(), process),
        *measure_transfers(params, target, process),
        *measure_networks(params, target, costs, process),
        *measure_stems(params, target, process),
    ]


def main() -> None:
    params = load(Params)
    target = network_device(params)
    benchmark = Benchmark("bench_hardware", target)
    costs = costs_of(params, target)
    measured = benchmark.repeat(params.bench.starts, measure, params, costs)
    benchmark.write([*measured, *count_flop(costs, target)], findings)


if __name__ == "__main__":
    sys.exit(run(main))
