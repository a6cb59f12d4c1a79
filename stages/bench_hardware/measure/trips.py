"""What it costs to give a GPU work, and to go back and forth between it and the processor."""

from collections.abc import Mapping

import torch
from torch import Tensor

from lab.machine.devices import Devices
from lab.results.measurements import Measurement, skip
from lab.timing.bench import Variant, in_unit, products, size_past_launch_bound, time_variants
from stages.bench_hardware.measure.names import JUMPS, LAUNCH, STAYS, TRIP
from stages.bench_hardware.measure.params import Params

LAUNCHES = 1000  # in a call, so that the GPU is waited for once in many
PRODUCTS = 10  # in a row, each of the last one's result
VARIANTS = (LAUNCH, JUMPS, STAYS)


def measure_trips(params: Params, target: Devices, start: int) -> list[Measurement]:
    """Microseconds of a kernel launch and of a row of products."""
    device = target.devices[0]
    if device.type == "cpu":
        return [skip(TRIP, variant, "needs a CUDA GPU", target.kind) for variant in VARIANTS]
    rows = size_past_launch_bound(
        products(device), params.bench_hardware.matrix_size, target, params.bench
    )
    times = time_variants(trip_variants(params, device, rows), target.devices, params.bench, start)
    times[LAUNCH] = tuple(t / LAUNCHES for t in times[LAUNCH])
    return in_unit(TRIP, 1, times, "us", target)


def trip_variants(params: Params, device: torch.device, rows: int) -> Mapping[str, Variant]:
    """Launches, and products in a row, with what the notes warn of and without."""
    number = torch.zeros(1, device=device)
    # so that a row of products neither grows nor fades
    matrix = torch.rand(rows, rows, generator=torch.Generator().manual_seed(params.seed))
    matrix = matrix.mul_(2 / rows).to(device)

    def launch() -> None:
        for _ in range(LAUNCHES):
            number.add_(1.0)

    def row_of_products(jump: bool) -> Tensor:
        result = matrix
        for _ in range(PRODUCTS):
            result = result @ matrix
            if jump:
                result = result.cpu().to(device)
        return result

    return {
        LAUNCH: launch,
        JUMPS: lambda: row_of_products(jump=True),
        STAYS: lambda: row_of_products(jump=False),
    }
