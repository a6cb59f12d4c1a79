"""The cost of launching work on a GPU, and of copying between GPU and CPU."""

from collections.abc import Mapping

import torch
from torch import Tensor

from lab.machine.devices import Devices
from lab.results.measurements import Measurement, skip
from lab.results.reasons import NEEDS_GPU, Reason
from lab.timing.bench import Variant, in_unit, products, size_past_launch_bound, time_variants
from stages.bench_hardware.measure.params import Params

LAUNCHES = 1000  # in a call, so that synchronizing hardly counts
PRODUCTS = 10  # in a row, each with the previous result
VARIANTS = (LAUNCH, JUMPS, STAYS) = (
    "launches",
    "products by way of the processor",
    "products on the GPU",
)


def measure_transfers(params: Params, target: Devices, process: int) -> list[Measurement]:
    """Measure the microseconds of a kernel launch and of a series of matrix multiplications."""
    device = target.devices[0]
    if device.type == "cpu":
        return [skip("transfers", variant, Reason(NEEDS_GPU), target.kind) for variant in VARIANTS]
    rows = size_past_launch_bound(
        products(device), params.bench_hardware.matrix_size, target, params.bench
    )
    variants = transfers(params.seed, device, rows)
    times = time_variants(variants, target.devices, params.bench, process)
    times[LAUNCH] = tuple(t / LAUNCHES for t in times[LAUNCH])
    return in_unit("transfers", 1, times, "us", target)


def transfers(seed: int, device: torch.device, rows: int) -> Mapping[str, Variant]:
    """Return the variants: launches, and multiplications with and without copies to the CPU."""
    number = torch.zeros(1, device=device)
    # scaled so that repeated products neither grow nor vanish
    matrix = torch.rand(rows, rows, generator=torch.Generator().manual_seed(seed)).mul_(2 / rows)
    matrix = matrix.to(device)
    return {
        LAUNCH: lambda: launch(number),
        JUMPS: lambda: multiply_in_a_row(matrix, jump=True),
        STAYS: lambda: multiply_in_a_row(matrix, jump=False),
    }


def launch(number: Tensor) -> None:
    """Launch a thousand kernels that do next to nothing."""
    for _ in range(LAUNCHES):
        number.add_(1.0)


def multiply_in_a_row(matrix: Tensor, jump: bool) -> Tensor:
    """Multiply ten times in a row; to `jump`, copy each result to the CPU and back."""
    result = matrix
    for _ in range(PRODUCTS):
        result = result @ matrix
        if jump:
            result = result.cpu().to(matrix.device)
    return result
