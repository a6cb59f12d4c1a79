"""Networks beside the notes' MLP, so that "usually" is asked of several."""

from functools import partial

import torch
from torch import nn

from lab.machine.devices import Devices
from lab.nets.models import lenet_of_layers
from lab.results.measurements import Measurement
from lab.timing.bench import in_unit, time_variants
from stages.bench_compile.measure import names
from stages.bench_compile.measure.compiled_forms import NUM_INPUTS, Form, mlp, script
from stages.bench_compile.measure.params import Params


def deep() -> nn.Sequential:
    """Sixteen narrow layers of 64: most of what a call does is going from one to the next."""
    return nn.Sequential(*[layer for _ in range(16) for layer in (nn.Linear(64, 64), nn.Tanh())])


def measure_cases(params: Params, devices: Devices, start: int) -> list[Measurement]:
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
        forms: dict[str, Form] = {names.EAGER: net, names.SCRIPT: script(net)}
        for size in params.bench_compile.case_batch_sizes:
            X = torch.randn(size, *shape, device=device)
            variants = {
                names.of_case(network, name): partial(form, X) for name, form in forms.items()
            }
            times = time_variants(variants, devices.devices, params.bench, start)
            measured += in_unit(names.CASES, size, times, "us", devices)
    return measured
