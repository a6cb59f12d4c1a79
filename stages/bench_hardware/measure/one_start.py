"""What one start of a process measures."""

from lab.core.params import load
from lab.machine.devices import processor, usable_cores
from lab.results.measurements import Measurement
from stages.bench_hardware.measure.adding import measure_adding
from stages.bench_hardware.measure.matmul import measure_matmul
from stages.bench_hardware.measure.memory_access import (
    measure_latency,
    measure_order,
    measure_reuse,
    measure_stride,
)
from stages.bench_hardware.measure.params import Params
from stages.bench_hardware.measure.peak import measure_peak
from stages.bench_hardware.measure.roofline import measure_networks, network_device
from stages.bench_hardware.measure.stem import measure_stems
from stages.bench_hardware.measure.trips import measure_trips


def measure(start: int) -> list[Measurement]:
    """The processor, memory, the way to a GPU, and networks on the GPU or on all cores."""
    params = load(Params)
    target, one = network_device(params), processor(1)
    return [
        *measure_latency(params, one, start),
        *measure_reuse(params, one, start),
        *measure_order(params, one, start),
        *measure_stride(params, one, start),
        *measure_matmul(params, one, start),
        *measure_adding(params, one, start),
        *measure_peak(params, target, usable_cores(), start),
        *measure_trips(params, target, start),
        *measure_networks(params, target, start),
        *measure_stems(params, target, start),
    ]
