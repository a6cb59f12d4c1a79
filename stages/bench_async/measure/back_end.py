"""The C++ back end: the order that it keeps, and its share of the notes' programs' time."""

import torch
from torch import Tensor

from lab.machine.devices import Devices
from lab.results.measurements import Measurement, skip
from lab.results.reasons import NEEDS_GPU, Reason
from lab.timing.back_end import back_end_share
from stages.bench_async.measure.params import Params

PROFILED_S = 0.01  # to profile: a thousand or more calls of x * y + 2
BUSY_CYCLES = 100_000_000  # of a GPU's clock before x and y become ones: some 50 ms


def x_times_y_plus_2(x: Tensor, y: Tensor) -> Tensor:
    """Compute what the notes compute; each step needs the previous one."""
    return x * y + 2


def z_on(stream: torch.cuda.Stream) -> Tensor:
    """Queue x * y + 2 of ones (1, 2) on `stream` while the GPU has yet to make the ones."""
    x, y = (torch.zeros((1, 2), device=stream.device) for _ in range(2))
    with torch.cuda.stream(stream):
        x_times_y_plus_2(x, y)  # loads the kernels, which would otherwise wait for the GPU
    torch.cuda.synchronize(stream.device)
    torch.cuda._sleep(BUSY_CYCLES)
    x.fill_(1)
    y.fill_(1)
    with torch.cuda.stream(stream):
        z = x_times_y_plus_2(x, y)
    torch.cuda.synchronize(stream.device)
    return z


def measure_dependencies(devices: Devices) -> list[Measurement]:
    """Compute z on the stream that makes the ones, and on a different one.

    On one stream, everything is in order. A different stream that waits for no event computes z
    from the old x and y; this control shows that there is an order to keep.
    """
    variants, device = ("one stream", "another stream, no event"), devices.devices[0]
    if device.type != "cuda":
        return [
            skip("dependencies", variant, Reason(NEEDS_GPU), devices.kind) for variant in variants
        ]
    streams = (torch.cuda.current_stream(device), torch.cuda.Stream(device))
    return [
        Measurement("dependencies", variant, 0, (float(z_on(stream)[0, 0]),), "", devices.kind)
        for variant, stream in zip(variants, streams, strict=True)
    ]


def measure_back_end_share(params: Params, devices: Devices) -> list[Measurement]:
    """Profile the section's programs: x * y + 2 of ones, and multiplying a random matrix."""
    device, n = devices.devices[0], params.bench_async.book_size

    def product() -> None:
        a = torch.randn(size=(n, n), device=device)
        torch.mm(a, a)

    x, y = torch.ones((1, 2), device=device), torch.ones((1, 2), device=device)
    programs = {"x * y + 2": lambda: x_times_y_plus_2(x, y), "random product": product}
    kind, threads = devices.kind, devices.threads
    shares = {
        variant: back_end_share(call, devices.devices, PROFILED_S)
        for variant, call in programs.items()
    }
    return [
        Measurement("back_end", variant, 0, (share,), "%", kind, threads)
        for variant, share in shares.items()
    ]
