"""The back end's share of the time of a call."""

from functools import partial

from torch import nn

from lab.machine.devices import Devices
from lab.results.measurements import Measurement
from lab.timing.back_end import back_end_share
from stages.bench_compile.measure import names
from stages.bench_compile.measure.compiled_forms import batches
from stages.bench_compile.measure.params import Params


def measure_share(net: nn.Module, params: Params, devices: Devices) -> list[Measurement]:
    """The back end's percentage of an eager call's time, gradients on, at each batch size."""
    inputs = batches(params.bench_compile.batch_sizes, params.seed, devices.devices[0])
    min_s, kind, threads = params.bench.min_sample_ms / 1e3, devices.kind, devices.threads
    shares = {n: back_end_share(partial(net, X), devices.devices, min_s) for n, X in inputs.items()}
    return [
        Measurement(names.BACK_END, names.EAGER, n, (share,), "%", kind, threads)
        for n, share in shares.items()
    ]
