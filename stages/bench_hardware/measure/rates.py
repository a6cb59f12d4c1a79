"""Work whose amount is known, timed side by side: on threads of the processor and on a GPU."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

from lab.machine.devices import DeviceKind, Devices
from lab.results.measurements import Measurement
from lab.timing.bench import Variant, time_variants
from stages.bench_hardware.measure.params import Params


@dataclass(frozen=True)
class Work:
    """A variant, the `amount` that a call of it does, and on what: 0 threads on a GPU."""

    variant: str
    call: Variant
    amount: float
    threads: int

    def run(self) -> None:
        """Do it with its number of threads."""
        if self.threads:
            torch.set_num_threads(self.threads)
        self.call()


def measure_rates(
    experiment: str, unit: str, works: Sequence[Work], params: Params, target: Devices, start: int
) -> list[Measurement]:
    """The amount per second of each work, all in turn; x: its threads, 0 on `target`'s GPU."""
    variants = {f"{work.variant} {work.threads}": work.run for work in works}
    times = time_variants(variants, target.devices, params.bench, start)
    measured = []
    for work, seconds in zip(works, times.values(), strict=True):
        kind: DeviceKind = "cpu" if work.threads else target.kind
        values = tuple(work.amount / t for t in seconds)
        measured.append(
            Measurement(experiment, work.variant, work.threads, values, unit, kind, work.threads)
        )
    return measured


def gflop_per_s(
    experiment: str,
    x: float,
    times: Mapping[str, tuple[float, ...]],
    flop: Mapping[str, float],
    devices: Devices,
) -> list[Measurement]:
    """Measurements in GFLOP/s, from `time_variants`' seconds per call and each call's `flop`."""
    rates = {
        variant: tuple(flop[variant] / t / 1e9 for t in seconds)
        for variant, seconds in times.items()
    }
    return [
        Measurement(experiment, variant, x, values, "GFLOP/s", devices.kind, devices.threads)
        for variant, values in rates.items()
    ]
