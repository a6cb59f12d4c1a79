"""What the back end does in a call: its operations, and its share of the time."""

import copy
from functools import partial

from torch import nn

from lab.machine.devices import Devices
from lab.results.measurements import Measurement
from lab.timing.back_end import profiled
from stages.bench_compile.measure import names
from stages.bench_compile.measure.compiled_forms import Form, batches, script
from stages.bench_compile.measure.params import Params

WARM_UP_CALLS = 3  # TorchScript optimises what it has seen twice


def measure_operations(net: nn.Module, params: Params, devices: Devices) -> list[Measurement]:
    """Count the operations of a call of batch 1, eager and as TorchScript, without gradients."""
    [x] = batches([1], params.seed, devices.devices[0]).values()
    fixed = copy.deepcopy(net).requires_grad_(False)
    scripted = script(fixed)
    for _ in range(WARM_UP_CALLS):
        scripted(x)
    forms: dict[str, Form] = {names.EAGER: fixed, names.SCRIPT: scripted}
    measured = []
    for arm, form in forms.items():
        found = profiled(partial(form, x), devices.devices)
        for demo, count in (
            (names.HANDED_OVER, found.handed_over),
            (names.OPERATIONS, found.operations),
        ):
            measured.append(Measurement(demo, arm, 0, (count,), "operations", devices.kind))
    return measured


def measure_share(net: nn.Module, params: Params, devices: Devices) -> list[Measurement]:
    """The back end's percentage of an eager call's time, gradients on, at each batch size."""
    inputs = batches(params.bench_compile.batch_sizes, params.seed, devices.devices[0])
    min_s, kind, threads = params.bench.min_sample_ms / 1e3, devices.kind, devices.threads
    shares = {n: profiled(partial(net, X), devices.devices, min_s).share for n, X in inputs.items()}
    return [
        Measurement(names.BACK_END, names.EAGER, n, (share,), "%", kind, threads)
        for n, share in shares.items()
    ]
