"""Calls by several Python threads at once: what the interpreter, which runs one, holds back."""

import threading
from functools import partial

import torch
from torch import Tensor, nn

from lab.core.shared_params import BenchParams
from lab.machine.devices import Devices, usable_cores
from lab.results.measurements import Measurement, skip
from lab.timing.bench import in_unit, time_variants
from stages.bench_compile.measure import names
from stages.bench_compile.measure.compiled_forms import NUM_INPUTS, Form, script

CALLS = 300  # of each thread, so that starting threads takes little of the time
COUNTS = (1, 2)  # of threads


def measure_threads(
    net: nn.Module, devices: Devices, params: BenchParams, start: int
) -> list[Measurement]:
    """Time a call of batch 1, eager and as TorchScript, made by one thread and by two."""
    forms: dict[str, Form] = {names.EAGER: net, names.SCRIPT: script(net)}
    if usable_cores() < max(COUNTS):
        reason = f"needs {max(COUNTS)} cores"
        return [skip(names.THREADS, variant, reason, devices.kind) for variant in forms]
    x = torch.ones(1, NUM_INPUTS, device=devices.devices[0])
    variants = {
        f"{variant} {count}": partial(call_by_threads, form, x, count)
        for variant, form in forms.items()
        for count in COUNTS
    }
    times = time_variants(variants, devices.devices, params, start)
    measured = []
    for count in COUNTS:
        of_count = {
            variant: tuple(t / (CALLS * count) for t in times[f"{variant} {count}"])
            for variant in forms
        }
        measured += in_unit(names.THREADS, count, of_count, "us", devices)
    return measured


def call_by_threads(form: Form, x: Tensor, count: int) -> None:
    """Have `count` threads call the form CALLS times each, and wait for them."""

    def call() -> None:
        for _ in range(CALLS):
            form(x)

    threads = [threading.Thread(target=call) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
