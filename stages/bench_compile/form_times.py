"""How long the compiled forms take: to build, in each of their first calls, and from then on."""

from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from lab.machine.devices import Devices
from lab.results.measurements import Measurement, skip
from lab.timing.bench import in_unit, time_arms
from lab.timing.clock import read_clock
from stages.bench_compile.compiled_forms import BUILDERS, NEED_COMPILER, NUM_INPUTS, Form, build
from stages.bench_compile.names import BUILD, CALL, DIFFERENCE, FIRST_CALLS
from stages.bench_compile.params import Params


def measure_forms(
    net: nn.Module, params: Params, devices: Devices, folder: Path
) -> list[Measurement]:
    """Build each form and time its first calls, then time all side by side at each batch size."""
    generator = torch.Generator().manual_seed(params.seed)

    def batch(size: int) -> Tensor:
        return torch.randn(size, NUM_INPUTS, generator=generator).to(devices.devices[0])

    forms, measured = _built(net, batch(1), params, devices, folder)
    for size in params.bench_compile.batch_sizes:
        X = batch(size)
        arms = {arm: partial(form, X) for arm, form in forms.items()}
        times = time_arms(arms, devices.devices, params.bench)
        y = net(X).detach()
        measured += [
            *in_unit(CALL, size, times, "us", devices),
            *[_difference(arm, form(X), y, devices) for arm, form in forms.items()],
        ]
    return measured


def _built(
    net: nn.Module, x: Tensor, params: Params, devices: Devices, folder: Path
) -> tuple[dict[str, Form], list[Measurement]]:
    forms: dict[str, Form] = {}
    measured = []
    for arm in BUILDERS:
        if arm in NEED_COMPILER and not params.bench_compile.compilers:
            measured.append(skip(CALL, arm, "bench_compile.compilers is false", devices.kind))
            continue
        form, seconds, reason = build(arm, net, folder)
        if form is None:
            measured.append(skip(CALL, arm, reason, devices.kind))
            continue
        forms[arm] = form
        calls = first_calls(form, x, devices, params.bench_compile.first_calls)
        measured += in_unit(BUILD, 0, {arm: (seconds + calls[0],)}, "s", devices)
        for number, call in enumerate(calls, 1):
            measured += in_unit(FIRST_CALLS, number, {arm: (call,)}, "us", devices)
    return forms, measured


def first_calls(form: Form, x: Tensor, devices: Devices, count: int) -> list[float]:
    """The seconds of each of a form's first `count` calls: a compiler works during the first."""
    seconds = []
    for _ in range(count):
        start = read_clock(devices.devices)
        form(x)
        seconds.append(read_clock(devices.devices) - start)
    return seconds


def _difference(arm: str, outputs: Tensor, y: Tensor, devices: Devices) -> Measurement:
    largest = (outputs - y).abs().max().item()
    return Measurement(DIFFERENCE, arm, len(y), (largest,), "logit", devices.kind)
