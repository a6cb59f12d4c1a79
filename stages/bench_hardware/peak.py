"""The most a device reaches: large matrix products in each dtype, and copies in its memory."""

import torch
from torch import Tensor

from lab.machine.devices import Devices, processor
from lab.results.measurements import Measurement
from lab.timing.bench import Arm, time_arms
from stages.bench_hardware.names import (
    BANDWIDTH,
    BFLOAT16,
    COPY,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    PEAK,
    TF32,
)
from stages.bench_hardware.params import Params
from stages.bench_hardware.rates import gflop_per_s

CPU_DTYPES = {FLOAT64: torch.float64, FLOAT32: torch.float32, BFLOAT16: torch.bfloat16}
GPU_DTYPES = {**CPU_DTYPES, FLOAT16: torch.float16}


def measure_processor_peak(params: Params, cores: int) -> list[Measurement]:
    """Rates on the processor with 1, 2, 4, ... threads and with all cores."""
    counts = sorted({1, cores} | {2**e for e in range(10) if 2**e < cores})
    return [m for threads in counts for m in measure_peak(params, processor(threads))]


def measure_peak(params: Params, devices: Devices) -> list[Measurement]:
    """Rates of products in each dtype, and of copies, on the first of the devices."""
    on_gpu = devices.devices[0].type == "cuda"
    threads = 0 if on_gpu else devices.threads
    p = params.bench_hardware
    n = p.gpu_matrix_size if on_gpu else p.matrix_size
    a = torch.rand(n, n, generator=torch.Generator().manual_seed(params.seed))
    a = a.to(devices.devices[0])
    dtypes = GPU_DTYPES if on_gpu else CPU_DTYPES
    arms = {name: _product(a.to(dtype)) for name, dtype in dtypes.items()}
    times = time_arms(arms, devices.devices, params.bench)
    if on_gpu:
        torch.set_float32_matmul_precision("high")
        times |= time_arms({TF32: _product(a)}, devices.devices, params.bench)
        torch.set_float32_matmul_precision("highest")
    return [
        *gflop_per_s(PEAK, threads, times, 2 * n**3, devices),
        _bandwidth(params, threads, devices),
    ]


def _product(m: Tensor) -> Arm:
    out = torch.empty_like(m)
    return lambda: torch.mm(m, m, out=out)


def _bandwidth(params: Params, threads: int, devices: Devices) -> Measurement:
    source = torch.rand(params.bench_hardware.copy_mib * 2**18, device=devices.devices[0])
    target = torch.empty_like(source).copy_(source)
    arm = {COPY: lambda: target.copy_(source)}
    [times] = time_arms(arm, devices.devices, params.bench).values()
    moved = 2 * source.nbytes  # read once, written once
    rates = tuple(moved / t / 1e9 for t in times)
    return Measurement(BANDWIDTH, COPY, threads, rates, "GB/s", devices.kind, devices.threads)
