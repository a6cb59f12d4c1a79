"""Operations that depend on each other, in one queue and in two: who keeps their order."""

import torch
from torch import Tensor

from lab.machine.devices import Devices
from lab.results.measurements import Measurement, skip
from stages.bench_async.measure import names

BUSY_CYCLES = 100_000_000  # of a GPU's clock, before x and y become ones: some 50 ms


def measure_dependencies(devices: Devices) -> list[Measurement]:
    """Compute the notes' z = x * y + 2 of ones (1, 2) while the GPU is busy making the ones.

    On one stream everything is in order. On another that waits for no event, z is computed from
    what x and y were before; this is the control that shows that there is an order to keep.
    """
    variants, device = (names.IN_ORDER, names.UNORDERED), devices.devices[0]
    if device.type != "cuda":
        return [
            skip(names.DEPENDENCIES, variant, "needs a CUDA GPU", devices.kind)
            for variant in variants
        ]
    streams = (torch.cuda.current_stream(device), torch.cuda.Stream(device))
    return [
        Measurement(names.DEPENDENCIES, variant, 0, (_z(device, stream),), "", devices.kind)
        for variant, stream in zip(variants, streams, strict=True)
    ]


def _z(device: torch.device, stream: torch.cuda.Stream) -> float:
    """The first number of z, computed on `stream` right after the ones were asked for."""

    def compute(x: Tensor, y: Tensor) -> Tensor:
        return x * y + 2

    x, y = torch.zeros((1, 2), device=device), torch.zeros((1, 2), device=device)
    with torch.cuda.stream(stream):
        compute(x, y)  # loads the kernels, which would otherwise wait for the GPU
    torch.cuda.synchronize(device)
    torch.cuda._sleep(BUSY_CYCLES)
    x.fill_(1)
    y.fill_(1)
    with torch.cuda.stream(stream):
        z = compute(x, y)
    torch.cuda.synchronize(device)
    return float(z[0, 0].item())
