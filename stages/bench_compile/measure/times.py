"""The times of the notes' network in each form: the first 1000 calls, and later ones.

Also Python's part in a call: the back end's share of the time, and two Python threads instead of
one. Other networks test the notes' "usually".
"""

import importlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor, nn

from lab.core.params import load
from lab.core.shared_params import BenchParams
from lab.machine.compiler_cache import compiler_cache
from lab.machine.devices import Devices, resolve, usable_cores
from lab.nets.models import lenet_of_layers
from lab.parallel.workers import parallel_map, thread_pool
from lab.results.measurements import Measurement, skip
from lab.results.reasons import NEEDS_CORES, NEEDS_GPU, Reason
from lab.timing.back_end import back_end_share
from lab.timing.bench import in_unit, time_variants
from lab.timing.clock import synchronize
from stages.bench_compile.measure.building import call_in_a_row, seconds_of
from stages.bench_compile.measure.forms import (
    BUILDERS,
    NUM_INPUTS,
    Form,
    batches,
    build,
    eager_and_script,
    missing_script,
    mlp,
    script,
)
from stages.bench_compile.measure.names import EAGER, FIRST_SCRIPT, INFERENCE, SCRIPT
from stages.bench_compile.measure.params import Params
from stages.bench_compile.measure.program import measure_program

OF_SCRIPT = ("cases", "threads")  # experiments that need TorchScript
INDUCTOR = "torch._inductor.compile_fx"
CALLS = 1000  # as the notes time them
WARM_UP_CALLS = 3
QUEUED_CALLS = 50  # in a row; a GPU's queue holds over a thousand kernels
CALLS_OF_A_THREAD = 300  # so many that handing them to a thread hardly counts
THREADS = (1, 2)


def measure(process: int, crashes: Mapping[str, Reason]) -> list[Measurement]:
    """Measure in a fresh process, skipping `crashes`.

    The notes' 1000 calls come first, before any other TorchScript.
    """
    params = load(Params)
    devices = resolve(1, params.devices)
    importlib.import_module(INDUCTOR)  # or the timed code would import it
    missing = missing_script()
    thousand = measure_thousand_calls(params.seed, devices)
    net = mlp(params.seed).to(devices.devices[0])
    return [
        *thousand,
        *measure_program(devices, params.bench, process),
        *measure_calls(net, params, devices, process, crashes),
        *measure_nets(params, devices, process),
        *measure_threads(net, devices, params.bench, process),
        *measure_share(net, params, devices),
        *(skip(each, SCRIPT, missing, devices.kind) for each in OF_SCRIPT if missing),
    ]


def measure_thousand_calls(seed: int, devices: Devices) -> list[Measurement]:
    """Take the notes' steps in a process that has not used TorchScript: one sample of each.

    A network is called, scripted and called once. Then we time 1000 calls of a new one, script it
    outside the clock, and time 1000 more. Gradients are on, and nothing else warms up. As in the
    notes, TorchScript's first call in a process is not part of the 1000; it is timed separately.
    """
    if reason := missing_script():
        return [
            skip("thousand_calls", variant, reason, devices.kind)
            for variant in (EAGER, SCRIPT, FIRST_SCRIPT)
        ]
    device = devices.devices[0]
    x = torch.randn(1, NUM_INPUTS, generator=torch.Generator().manual_seed(seed)).to(device)
    earlier = mlp(seed).to(device)
    earlier(x)
    first = seconds_of(script(earlier), x, 1, devices)
    net = mlp(seed + 1).to(device)
    eager = seconds_of(net, x, CALLS, devices)
    scripted = seconds_of(script(net), x, CALLS, devices)
    seconds = {EAGER: eager, SCRIPT: scripted, FIRST_SCRIPT: first}
    times = {variant: (each,) for variant, each in seconds.items()}
    return in_unit("thousand_calls", 0, times, "ms", devices)


# --- the network in each form ---


def measure_calls(
    net: nn.Module, params: Params, devices: Devices, process: int, crashes: Mapping[str, Reason]
) -> list[Measurement]:
    """Time all forms side by side at each batch size; skip those that are not built here."""
    ours = params.bench_compile
    inputs = batches(ours.batch_sizes, params.seed, devices.devices[0])
    use = partial(_warmed_up, inputs=[*inputs.values()])
    forms: dict[str, Form] = {}
    measured = []
    for variant in BUILDERS:
        form, reason = None, crashes.get(variant)
        if not reason:
            form, _, reason = build(
                variant, net, compiler_cache(), [*inputs.values()], use, ours.compilers
            )
        if reason:
            measured.append(skip("call", variant, reason, devices.kind))
        elif form is not None:
            forms[variant] = form
    for size, X in inputs.items():
        variants = {variant: partial(form, X) for variant, form in forms.items()}
        times = time_variants(variants, devices.devices, params.bench, process, control=INFERENCE)
        measured += in_unit("call", size, times, "us", devices)
        if devices.devices[0].type == "cuda":
            enqueued = _enqueue_seconds(forms[INFERENCE], X, devices, params.bench.rounds)
            measured += in_unit("enqueue", size, {INFERENCE: enqueued}, "us", devices)
    if devices.devices[0].type != "cuda":
        measured.append(skip("enqueue", INFERENCE, Reason(NEEDS_GPU), devices.kind))
    return measured


def _warmed_up(form: Form, inputs: Sequence[Tensor]) -> Form:
    """Call the form with each input and return it; TorchScript also compiles after two calls."""
    for X in inputs:
        call_in_a_row(form, X, WARM_UP_CALLS)
    return form


def _enqueue_seconds(form: Form, X: Tensor, devices: Devices, rounds: int) -> tuple[float, ...]:
    """Return the seconds per call that Python takes to queue work, without synchronizing."""
    seconds = []
    for _ in range(rounds):
        synchronize(devices.devices)
        start = time.perf_counter()
        call_in_a_row(form, X, QUEUED_CALLS)
        seconds.append((time.perf_counter() - start) / QUEUED_CALLS)
    return tuple(seconds)


# --- other networks ---


def deep() -> nn.Sequential:
    """Make 16 narrow layers (64 units): most of a call's time is overhead between layers."""
    return nn.Sequential(*[layer for _ in range(16) for layer in (nn.Linear(64, 64), nn.Tanh())])


def measure_nets(params: Params, devices: Devices, process: int) -> list[Measurement]:
    """Time each network at each batch size, eager and as TorchScript, both without gradients."""
    device = devices.devices[0]
    networks: dict[str, tuple[nn.Sequential, tuple[int, ...]]] = {
        "MLP": (mlp(params.seed), (NUM_INPUTS,)),
        "LeNet": (lenet_of_layers(), (1, 28, 28)),
        "16 layers": (deep(), (64,)),
    }
    measured = []
    for network, (layers, shape) in networks.items():
        net = layers.eval().requires_grad_(False).to(device)
        forms = eager_and_script(net)
        for size in params.bench_compile.case_batch_sizes:
            X = torch.randn(size, *shape, device=device)
            variants = {variant: partial(form, X) for variant, form in forms.items()}
            times = time_variants(variants, devices.devices, params.bench, process)
            measured += [
                replace(m, columns={"net": network})
                for m in in_unit("cases", size, times, "us", devices)
            ]
    return measured


# --- what Python does in a call ---


def measure_threads(
    net: nn.Module, devices: Devices, params: BenchParams, process: int
) -> list[Measurement]:
    """Time a call of batch 1, eager and as TorchScript, made by one Python thread and by two.

    The interpreter runs one thread at a time.
    """
    forms = eager_and_script(net)
    if usable_cores() < max(THREADS):
        reason = Reason(NEEDS_CORES, str(max(THREADS)))
        return [skip("threads", variant, reason, devices.kind) for variant in forms]
    x = torch.ones(1, NUM_INPUTS, device=devices.devices[0])
    calls = {variant: partial(call_in_a_row, form, x) for variant, form in forms.items()}
    with thread_pool(max(THREADS), devices.threads) as pool:
        variants = {
            f"{variant} {count}": partial(parallel_map, pool, call, [CALLS_OF_A_THREAD] * count)
            for variant, call in calls.items()
            for count in THREADS
        }
        times = time_variants(variants, devices.devices, params, process)
    measured = []
    for count in THREADS:
        of_count = {
            variant: tuple(t / (CALLS_OF_A_THREAD * count) for t in times[f"{variant} {count}"])
            for variant in forms
        }
        measured += in_unit("threads", count, of_count, "us", devices)
    return measured


def measure_share(net: nn.Module, params: Params, devices: Devices) -> list[Measurement]:
    """Measure the back end's percentage of an eager call, gradients on, at each batch size."""
    inputs = batches(params.bench_compile.batch_sizes, params.seed, devices.devices[0])
    min_s, on = params.bench.min_sample_ms / 1e3, (devices.kind, devices.threads)
    shares = {n: back_end_share(partial(net, X), devices.devices, min_s) for n, X in inputs.items()}
    return [Measurement("back_end", EAGER, n, (share,), "%", *on) for n, share in shares.items()]
