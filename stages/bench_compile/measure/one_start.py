"""What one start of bench_compile times: the program, the forms, the threads, the cases."""

from lab.core.params import load
from lab.machine.devices import resolve
from lab.results.measurements import Measurement
from stages.bench_compile.measure.back_end_share import measure_share
from stages.bench_compile.measure.cases import measure_cases
from stages.bench_compile.measure.compiled_forms import mlp
from stages.bench_compile.measure.form_times import measure_calls
from stages.bench_compile.measure.params import Params
from stages.bench_compile.measure.program_times import measure_program
from stages.bench_compile.measure.python_threads import measure_threads
from stages.bench_compile.measure.thousand_calls import measure_thousand_calls


def measure(start: int) -> list[Measurement]:
    """Time everything once; the notes' 1000 calls first, before any other TorchScript."""
    params = load(Params)
    devices = resolve(1, params.devices)
    thousand = measure_thousand_calls(params.seed, devices)
    net = mlp(params.seed).to(devices.devices[0])
    return [
        *thousand,
        *measure_program(devices, params.bench, start),
        *measure_calls(net, params, devices, start),
        *measure_cases(params, devices, start),
        *measure_threads(net, devices, params.bench, start),
        *measure_share(net, params, devices),
    ]
