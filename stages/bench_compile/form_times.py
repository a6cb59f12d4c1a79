"""How long the compiled forms take: to build, in each of their first calls, and from then on."""

import time
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from lab.machine.devices import Devices
from lab.results.measurements import Measurement, skip
from lab.timing.bench import in_unit, time_arms
from lab.timing.clock import read_clock, synchronize
from stages.bench_compile import names
from stages.bench_compile.compiled_forms import BUILDERS, Form, batches, build, compiler_cache
from stages.bench_compile.params import Params

QUEUED_CALLS = 50  # enqueued at once: a GPU's queue holds over a thousand kernels


def measure_building(
    net: nn.Module, params: Params, devices: Devices, folder: Path
) -> list[Measurement]:
    """Build each form from an empty cache: seconds, first calls, and outputs beside eager's."""
    ours = params.bench_compile
    inputs = batches([1, *ours.batch_sizes], params.seed, devices.devices[0])
    measured = []
    for arm in BUILDERS:
        form, seconds, _ = build(arm, net, folder, ours.compilers)
        if form is None:
            continue
        calls = first_calls(form, inputs[1], devices, ours.first_calls)
        measured += in_unit(names.BUILD, 0, {arm: (seconds + calls[0],)}, "s", devices)
        for number, call in enumerate(calls, 1):
            measured += in_unit(names.FIRST_CALLS, number, {arm: (call,)}, "us", devices)
        measured += [
            _difference(arm, form(inputs[n]), net(inputs[n]), devices) for n in ours.batch_sizes
        ]
    return measured


def measure_calls(
    net: nn.Module, params: Params, devices: Devices, start: int
) -> list[Measurement]:
    """Time all forms side by side at each batch size; what is not built here is skipped."""
    ours = params.bench_compile
    forms: dict[str, Form] = {}
    measured = []
    for arm in BUILDERS:
        form, _, reason = build(arm, net, compiler_cache(), ours.compilers)
        if form is None:
            measured.append(skip(names.CALL, arm, reason, devices.kind))
        else:
            forms[arm] = form
    for size, X in batches(ours.batch_sizes, params.seed, devices.devices[0]).items():
        arms = {arm: partial(form, X) for arm, form in forms.items()}
        times = time_arms(arms, devices.devices, params.bench, start, control=names.INFERENCE)
        measured += in_unit(names.CALL, size, times, "us", devices)
        if devices.devices[0].type == "cuda":
            enqueued = _enqueue_seconds(arms[names.INFERENCE], devices, params.bench.rounds)
            times = {names.INFERENCE: enqueued}
            measured += in_unit(names.ENQUEUE, size, times, "us", devices)
    if devices.devices[0].type != "cuda":
        measured.append(skip(names.ENQUEUE, names.INFERENCE, "needs a CUDA GPU", devices.kind))
    return measured


def first_calls(form: Form, x: Tensor, devices: Devices, count: int) -> list[float]:
    """The seconds of each of a form's first `count` calls: a compiler works during the first."""
    seconds = []
    for _ in range(count):
        start = read_clock(devices.devices)
        form(x)
        seconds.append(read_clock(devices.devices) - start)
    return seconds


def _enqueue_seconds(arm: partial[Tensor], devices: Devices, rounds: int) -> tuple[float, ...]:
    """Seconds of Python's thread per call, while the GPU works: nothing is waited for."""
    seconds = []
    for _ in range(rounds):
        synchronize(devices.devices)
        start = time.perf_counter()
        for _ in range(QUEUED_CALLS):
            arm()
        seconds.append((time.perf_counter() - start) / QUEUED_CALLS)
    return tuple(seconds)


def _difference(arm: str, outputs: Tensor, y: Tensor, devices: Devices) -> Measurement:
    with torch.no_grad():
        largest = (outputs - y).abs().max().item()
    return Measurement(names.DIFFERENCE, arm, len(y), (largest,), "logit", devices.kind)
