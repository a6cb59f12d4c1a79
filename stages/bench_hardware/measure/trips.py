"""What it costs to give a GPU work, to wait for it, and to go back and forth."""

from collections.abc import Mapping

import torch
from torch import Tensor

from lab.machine.devices import Devices
from lab.results.measurements import Measurement, skip
from lab.timing.bench import Arm, in_unit, lasting_size, products, time_arms
from lab.timing.clock import synchronize
from stages.bench_hardware.measure.names import (
    JUMPS,
    LAUNCH,
    ON_THE_GPU,
    STAYS,
    THERE_AND_BACK,
    TRIP,
    WAITED_FOR,
)
from stages.bench_hardware.measure.params import Params
from stages.bench_hardware.measure.peak import copy_mib

LAUNCHES = 1000  # in a call, so that the GPU is waited for once in many
PRODUCTS = 10  # in a row, each of the last one's result
ARMS = (LAUNCH, WAITED_FOR, THERE_AND_BACK, ON_THE_GPU, JUMPS, STAYS)


def measure_trips(params: Params, target: Devices, start: int) -> list[Measurement]:
    """Microseconds of a kernel launch, of a copy there and back, and of a row of products."""
    device = target.devices[0]
    if device.type == "cpu":
        return [skip(TRIP, arm, "needs a CUDA GPU", target.kind) for arm in ARMS]
    calls = {LAUNCH: LAUNCHES, WAITED_FOR: LAUNCHES}
    rows = lasting_size(products(device), params.bench_hardware.matrix_size, target, params.bench)
    times = time_arms(trip_arms(params, device, rows), target.devices, params.bench, start)
    per_call = {arm: tuple(t / calls.get(arm, 1) for t in times[arm]) for arm in ARMS}
    return in_unit(TRIP, 1, per_call, "us", target)


def trip_arms(params: Params, device: torch.device, rows: int) -> Mapping[str, Arm]:
    """Launches, copies, and products in a row, without and with what the notes warn of."""
    number = torch.zeros(1, device=device)
    here = torch.rand(copy_mib(params, device) * 2**18)
    there = here.to(device)
    other = torch.empty_like(there)
    # so that a row of products neither grows nor fades
    matrix = torch.rand(rows, rows, generator=torch.Generator().manual_seed(params.seed))
    matrix = matrix.mul_(2 / rows).to(device)

    def launch(wait: bool) -> None:
        for _ in range(LAUNCHES):
            number.add_(1.0)
            if wait:
                synchronize([device])

    def row_of_products(jump: bool) -> Tensor:
        result = matrix
        for _ in range(PRODUCTS):
            result = result @ matrix
            if jump:
                result = result.cpu().to(device)
        return result

    return {
        LAUNCH: lambda: launch(wait=False),
        WAITED_FOR: lambda: launch(wait=True),
        THERE_AND_BACK: lambda: here.to(device).cpu(),
        ON_THE_GPU: lambda: other.copy_(there),
        JUMPS: lambda: row_of_products(jump=True),
        STAYS: lambda: row_of_products(jump=False),
    }
