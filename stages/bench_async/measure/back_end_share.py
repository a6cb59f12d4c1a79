"""How much of the time of the notes' programs is spent in the C++ back end."""

import torch

from lab.machine.devices import Devices
from lab.results.measurements import Measurement
from lab.timing.back_end import back_end_share
from stages.bench_async.measure import names
from stages.bench_async.measure.params import Params


def measure_back_end_share(params: Params, devices: Devices) -> list[Measurement]:
    """Profile the notes' programs of this section: a random product, and x * y + 2 of ones."""
    device, n = devices.devices[0], params.bench_async.book_size

    def product() -> None:
        a = torch.randn(size=(n, n), device=device)
        torch.mm(a, a)

    x, y = torch.ones((1, 2), device=device), torch.ones((1, 2), device=device)
    programs = {names.ONES: lambda: x * y + 2, names.RANDOM_PRODUCT: product}
    min_s, kind, threads = params.bench.min_sample_ms / 1e3, devices.kind, devices.threads
    shares = {
        variant: back_end_share(call, devices.devices, min_s) for variant, call in programs.items()
    }
    return [
        Measurement(names.BACK_END, variant, 0, (share,), "%", kind, threads)
        for variant, share in shares.items()
    ]
