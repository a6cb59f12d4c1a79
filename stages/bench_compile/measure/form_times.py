"""How long the compiled forms take: to build, in each of their first calls, and from then on."""

import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from lab.machine.devices import Devices
from lab.results.measurements import Measurement, skip
from lab.timing.bench import in_unit, time_variants
from lab.timing.clock import read_clock, synchronize
from stages.bench_compile.measure import names
from stages.bench_compile.measure.compiled_forms import (
    BUILDERS,
    Form,
    batches,
    build,
    compiler_cache,
)
from stages.bench_compile.measure.params import Params

WARM_UP_CALLS = 3
QUEUED_CALLS = 50  # enqueued at once: a GPU's queue holds over a thousand kernels


def measure_building(
    net: nn.Module, params: Params, devices: Devices, folder: Path
) -> list[Measurement]:
    """Build each form from an empty cache: seconds, first calls, and outputs beside eager's."""
    ours = params.bench_compile
    inputs = batches([1, *ours.batch_sizes], params.seed, devices.devices[0])
    measured = []
    for variant in BUILDERS:
        use = partial(_first_results, inputs=inputs, devices=devices, count=ours.first_calls)
        found, seconds, _ = build(variant, net, folder, [*inputs.values()], use, ours.compilers)
        if found is None:
            continue
        calls, outputs = found
        measured += in_unit(names.BUILD, 0, {variant: (seconds + calls[0],)}, "s", devices)
        for number, call in enumerate(calls, 1):
            measured += in_unit(names.FIRST_CALLS, number, {variant: (call,)}, "us", devices)
        measured += [
            _difference(variant, outputs[n], net(inputs[n]), devices) for n in ours.batch_sizes
        ]
    return measured


def _first_results(
    form: Form, inputs: Mapping[int, Tensor], devices: Devices, count: int
) -> tuple[list[float], dict[int, Tensor]]:
    """Seconds of each of the first `count` calls, of one image; then all outputs by batch size."""
    calls = first_calls(form, inputs[1], devices, count)
    return calls, {n: form(X).clone() for n, X in inputs.items()}


def measure_calls(
    net: nn.Module, params: Params, devices: Devices, start: int
) -> list[Measurement]:
    """Time all forms side by side at each batch size; what is not built here is skipped."""
    ours = params.bench_compile
    inputs = batches(ours.batch_sizes, params.seed, devices.devices[0])
    use = partial(_called, inputs=[*inputs.values()])
    forms: dict[str, Form] = {}
    measured = []
    for variant in BUILDERS:
        form, _, reason = build(
            variant, net, compiler_cache(), [*inputs.values()], use, ours.compilers
        )
        if form is None:
            measured.append(skip(names.CALL, variant, reason, devices.kind))
        else:
            forms[variant] = form
    for size, X in inputs.items():
        variants = {variant: partial(form, X) for variant, form in forms.items()}
        times = time_variants(
            variants, devices.devices, params.bench, start, control=names.INFERENCE
        )
        measured += in_unit(names.CALL, size, times, "us", devices)
        if devices.devices[0].type == "cuda":
            enqueued = _enqueue_seconds(variants[names.INFERENCE], devices, params.bench.rounds)
            times = {names.INFERENCE: enqueued}
            measured += in_unit(names.ENQUEUE, size, times, "us", devices)
    if devices.devices[0].type != "cuda":
        measured.append(skip(names.ENQUEUE, names.INFERENCE, "needs a CUDA GPU", devices.kind))
    return measured


def _called(form: Form, inputs: Sequence[Tensor]) -> Form:
    """The form, after calls with each input: TorchScript, too, compiles what it has seen twice."""
    for X in inputs:
        for _ in range(WARM_UP_CALLS):
            form(X)
    return form


def first_calls(form: Form, x: Tensor, devices: Devices, count: int) -> list[float]:
    """The seconds of each of a form's first `count` calls: a compiler works during the first."""
    seconds = []
    for _ in range(count):
        start = read_clock(devices.devices)
        form(x)
        seconds.append(read_clock(devices.devices) - start)
    return seconds


def _enqueue_seconds(variant: partial[Tensor], devices: Devices, rounds: int) -> tuple[float, ...]:
    """Seconds of Python's thread per call, while the GPU works: nothing is waited for."""
    seconds = []
    for _ in range(rounds):
        synchronize(devices.devices)
        start = time.perf_counter()
        for _ in range(QUEUED_CALLS):
            variant()
        seconds.append((time.perf_counter() - start) / QUEUED_CALLS)
    return tuple(seconds)


def _difference(variant: str, outputs: Tensor, y: Tensor, devices: Devices) -> Measurement:
    with torch.no_grad():
        largest = (outputs - y).abs().max().item()
    return Measurement(names.DIFFERENCE, variant, len(y), (largest,), "logit", devices.kind)
