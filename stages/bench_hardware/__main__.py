"""Run the stage: `python -m stages.bench_hardware`."""

import sys
from collections.abc import Mapping

from lab.core.params import load
from lab.core.process import run
from lab.machine.devices import processor, usable_cores
from lab.nets.flops import Cost
from lab.results.measurements import Measurement, Results
from lab.timing.bench import median_metrics, ratio_metrics, speedup_of
from lab.timing.runner import run_benchmark
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
    """The processor, memory, the way to a GPU, and networks on the GPU or on all cores."""
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


def summarise(results: Results) -> dict[str, float | str]:
    """What vectors gain, and the roof over the networks: peak rate and bandwidth."""
    [loop], [one_call] = (
        results.series("adding", variant) for variant in ("Python loop", "one call")
    )
    metrics = ratio_metrics("vectorised_speedup", speedup_of(loop, one_call))
    kinds = {m.device_kind for m in results.measurements if m.experiment == "network"}
    for name, experiment, variant in (
        ("peak_float32_gflop_per_s", "peak", "float32"),
        ("copy_gb_per_s", "bandwidth", "copy"),
    ):
        rates = [m for m in results.series(experiment, variant) if m.device_kind in kinds]
        metrics |= median_metrics(name, rates[-1].values)  # on all cores, or the GPU
    return metrics


def main() -> None:
    params = load(Params)
    target = network_device(params)
    costs = costs_of(params, target)
    run_benchmark(
        "bench_hardware",
        target,
        params.bench.starts,
        measure,
        summarise,
        compared=("vectorised_speedup", "peak_float32_gflop_per_s", "copy_gb_per_s"),
        prepare=lambda: (params, costs),
        once=lambda measured: count_flop(costs, target),
    )


if __name__ == "__main__":
    sys.exit(run(main))
