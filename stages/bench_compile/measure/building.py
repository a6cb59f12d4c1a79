"""The time to build each form, first call included.

Nothing here imports torch's compilers: the first build in a process includes that import.
"""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from lab.machine.devices import Devices
from lab.results.measurements import Measurement
from lab.results.reasons import Reason
from lab.timing.bench import in_unit
from lab.timing.clock import read_clock
from stages.bench_compile.measure.forms import BUILDERS, Form, batches, build, mlp, of_each
from stages.bench_compile.measure.params import Params


def measure_building(
    params: Params, devices: Devices, folder: Path
) -> tuple[list[Measurement], dict[str, Reason]]:
    """Build each form from an empty cache; return the rows, and the reasons of those that crash."""
    found = of_each([*BUILDERS], measure_form, params, devices, folder)
    crashes = {variant: each for variant, each in found.items() if isinstance(each, Reason)}
    return [m for each in found.values() if not isinstance(each, Reason) for m in each], crashes


def measure_form(variant: str, params: Params, devices: Devices, folder: Path) -> list[Measurement]:
    """Measure a form's seconds to build and its difference from eager; [] if it fails here.

    The time to build includes the first call, in which compilers work.
    """
    ours = params.bench_compile
    net = mlp(params.seed).to(devices.devices[0])
    inputs = batches([1, *ours.batch_sizes], params.seed, devices.devices[0])
    use = partial(_first_results, inputs=inputs, devices=devices)
    found, seconds, _ = build(variant, net, folder, [*inputs.values()], use, ours.compilers)
    if found is None:
        return []
    first_call, outputs = found
    return [
        *in_unit("build", 0, {variant: (seconds + first_call,)}, "s", devices),
        *(_difference(variant, outputs[n], net(inputs[n]), devices) for n in ours.batch_sizes),
    ]


def _first_results(
    form: Form, inputs: Mapping[int, Tensor], devices: Devices
) -> tuple[float, dict[int, Tensor]]:
    """Return the seconds of the first call (one image), and all outputs by batch size."""
    first_call = seconds_of(form, inputs[1], 1, devices)
    return first_call, {n: form(X).clone() for n, X in inputs.items()}


def _difference(variant: str, outputs: Tensor, y: Tensor, devices: Devices) -> Measurement:
    with torch.no_grad():
        largest = (outputs - y).abs().max().item()
    return Measurement("difference", variant, len(y), (largest,), "logit", devices.kind)


def call_in_a_row(form: Form, x: Tensor, calls: int) -> None:
    """Repeat a call, as the notes do."""
    for _ in range(calls):
        form(x)


def seconds_of(form: Form, x: Tensor, calls: int, devices: Devices) -> float:
    start = read_clock(devices.devices)
    call_in_a_row(form, x, calls)
    return read_clock(devices.devices) - start
