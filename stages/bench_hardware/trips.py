"""What it costs to give a GPU work, and to send a number there and back."""

import torch

from lab.machine.devices import Devices
from lab.results.measurements import Measurement, skip
from lab.timing.bench import in_unit, time_arms
from stages.bench_hardware.names import LAUNCH, THERE_AND_BACK, TRIP
from stages.bench_hardware.params import Params

LAUNCHES = 1000  # in a sample, so that the GPU is waited for once in many


def measure_trips(params: Params, devices: Devices) -> list[Measurement]:
    """Microseconds of a kernel launch, and of 4 bytes to the GPU and back."""
    device = devices.devices[0]
    if device.type == "cpu":
        return [
            skip(TRIP, arm, "needs a CUDA GPU", devices.kind) for arm in (LAUNCH, THERE_AND_BACK)
        ]
    x, number = torch.zeros(1, device=device), torch.zeros(1)

    def launch() -> None:
        for _ in range(LAUNCHES):
            x.add_(1.0)

    def there_and_back() -> None:
        number.to(device).cpu()

    [launches] = time_arms({LAUNCH: launch}, devices.devices, params.bench).values()
    [back] = time_arms({THERE_AND_BACK: there_and_back}, devices.devices, params.bench).values()
    times = {LAUNCH: tuple(t / LAUNCHES for t in launches), THERE_AND_BACK: back}
    return in_unit(TRIP, 1, times, "us", devices)
