"""1000 calls of the notes' network, eager and as TorchScript, timed as the notes time them."""

import torch

from lab.machine.devices import Devices
from lab.results.measurements import Measurement
from lab.timing.bench import in_unit
from lab.timing.clock import read_clock
from stages.bench_compile.measure import names
from stages.bench_compile.measure.compiled_forms import NUM_INPUTS, Form, mlp, script

CALLS = 1000


def measure_thousand_calls(seed: int, devices: Devices) -> list[Measurement]:
    """The notes' steps, in a process that has not used TorchScript: one sample of each.

    A network is called, scripted and called once; then 1000 calls of a new one are timed, it is
    scripted outside the clock, and 1000 more are timed. Gradients are on, and nothing else warms
    up. What TorchScript's first use in a process costs lies before the clock, and is timed apart.
    """
    device = devices.devices[0]
    x = torch.randn(1, NUM_INPUTS, generator=torch.Generator().manual_seed(seed)).to(device)
    earlier = mlp(seed).to(device)
    earlier(x)
    first = _seconds(script(earlier), x, 1, devices)
    net = mlp(seed + 1).to(device)
    eager = _seconds(net, x, CALLS, devices)
    compiled = _seconds(script(net), x, CALLS, devices)
    variants = {names.EAGER: eager, names.SCRIPT: compiled, names.FIRST_IN_PROCESS: first}
    times = {variant: (seconds,) for variant, seconds in variants.items()}
    return in_unit(names.THOUSAND_CALLS, 0, times, "ms", devices)


def _seconds(form: Form, x: torch.Tensor, calls: int, devices: Devices) -> float:
    start = read_clock(devices.devices)
    for _ in range(calls):
        form(x)
    return read_clock(devices.devices) - start
