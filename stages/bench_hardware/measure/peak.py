"""The most a device reaches: large products in each dtype, copies, and sums of long vectors."""

from collections.abc import Iterator

import torch
from torch import Tensor

from lab.machine.devices import Devices, computes_in_bf16
from lab.results.measurements import Measurement
from lab.timing.bench import Variant
from stages.bench_hardware.measure.names import (
    BANDWIDTH,
    BFLOAT16,
    COPY,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    ONE_CALL,
    PEAK,
    TF32,
    VECTOR_RATE,
)
from stages.bench_hardware.measure.params import Params
from stages.bench_hardware.measure.rates import Work, measure_rates

CPU_DTYPES = {FLOAT64: torch.float64, FLOAT32: torch.float32, BFLOAT16: torch.bfloat16}
GPU_DTYPES = {**CPU_DTYPES, FLOAT16: torch.float16}
LAST_CACHES = 8  # of a GPU: a copy of so many is from memory
SMALLER = 4  # products in bfloat16 without instructions for it: seconds each, at any size as slow
VECTOR_LENGTH = 2**20  # numbers: work for many threads, and in the last cache of most processors


def measure_peak(params: Params, target: Devices, cores: int, start: int) -> list[Measurement]:
    """Rates on 1, 2, 4, ... threads, on all cores and on `target`'s GPU, each in turn."""
    counts = sorted({1, cores} | {2**e for e in range(10) if 2**e < cores})
    on_gpu = target.devices[0].type == "cuda"
    products = [work for threads in counts for work in _products(params, threads)]
    copies = [_copy(params, torch.device("cpu"), threads) for threads in counts]
    if on_gpu:
        products += _gpu_products(params, target.devices[0])
        copies.append(_copy(params, target.devices[0], 0))
    a, b = torch.rand(2, VECTOR_LENGTH)
    sums = [Work(ONE_CALL, lambda: a + b, VECTOR_LENGTH / 1e9, threads) for threads in counts]
    return [
        *measure_rates(PEAK, "GFLOP/s", products, params, target, start),
        *measure_rates(BANDWIDTH, "GB/s", copies, params, target, start),
        *measure_rates(VECTOR_RATE, "billion sums/s", sums, params, target, start),
    ]


def _products(params: Params, threads: int) -> Iterator[Work]:
    rows = dict.fromkeys(CPU_DTYPES, params.bench_hardware.matrix_size)
    if not computes_in_bf16(torch.device("cpu")):
        rows[BFLOAT16] //= SMALLER
    for name, n in rows.items():
        a = _matrix(params, n).to(CPU_DTYPES[name])
        yield Work(name, _product(a), 2 * n**3 / 1e9, threads)


def _gpu_products(params: Params, gpu: torch.device) -> Iterator[Work]:
    n = params.bench_hardware.gpu_matrix_size
    a = _matrix(params, n).to(gpu)
    for name, dtype in GPU_DTYPES.items():
        yield Work(name, _product(a.to(dtype)), 2 * n**3 / 1e9, 0)
    exact = _product(a)

    def as_tf32() -> None:
        torch.set_float32_matmul_precision("high")
        exact()
        torch.set_float32_matmul_precision("highest")

    yield Work(TF32, as_tf32, 2 * n**3 / 1e9, 0)


def _matrix(params: Params, n: int) -> Tensor:
    return torch.rand(n, n, generator=torch.Generator().manual_seed(params.seed))


def _product(m: Tensor) -> Variant:
    out = torch.empty_like(m)
    return lambda: torch.mm(m, m, out=out)


def _copy(params: Params, device: torch.device, threads: int) -> Work:
    source = torch.rand(copy_mib(params, device) * 2**18, device=device)
    target = torch.empty_like(source).copy_(source)
    moved = 2 * source.nbytes / 1e9  # read once, written once
    return Work(COPY, lambda: target.copy_(source), moved, threads)


def copy_mib(params: Params, device: torch.device) -> int:
    """MiB of a copy on a device; on a GPU many times what its last cache holds."""
    asked = params.bench_hardware.copy_mib
    if device.type == "cpu":
        return asked
    cache = torch.cuda.get_device_properties(device).L2_cache_size
    return max(asked, LAST_CACHES * cache // 2**20)
