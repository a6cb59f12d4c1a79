"""Work whose amount is known, timed side by side: on threads of the processor and on a GPU."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

from lab.machine.devices import DeviceKind, Devices
from lab.results.measurements import Measurement
from lab.timing.bench import Arm, time_arms
from stages.bench_hardware.measure.params import Params


@dataclass(frozen=True)
class Work:
    """An arm of a demo, the `amount` that a call of it does, and on what: 0 threads on a GPU."""

    arm: str
    call: Arm
    amount: float
    threads: int

    def run(self) -> None:
        """Do it with its number of threads."""
        if self.threads:
            torch.set_num_threads(self.threads)
        self.call()


def measure_rates(
    demo: str, unit: str, works: Sequence[Work], params: Params, target: Devices, start: int
) -> list[Measurement]:
    """The amount per second of each work, all in turn; x: its threads, 0 on `target`'s GPU."""
    arms = {f"{work.arm} {work.threads}": work.run for work in works}
    times = time_arms(arms, target.devices, params.bench, start)
    measured = []
    for work, seconds in zip(works, times.values(), strict=True):
        kind: DeviceKind = "cpu" if work.threads else target.kind
        values = tuple(work.amount / t for t in seconds)
        measured.append(Measurement(demo, work.arm, work.threads, values, unit, kind, work.threads))
    return measured


def gflop_per_s(
    demo: str,
    x: float,
    times: Mapping[str, tuple[float, ...]],
    flop: Mapping[str, float],
    devices: Devices,
) -> list[Measurement]:
    """Measurements in GFLOP/s, of the seconds per call that `time_arms` gives for each `flop`."""
    rates = {arm: tuple(flop[arm] / t / 1e9 for t in seconds) for arm, seconds in times.items()}
    return [
        Measurement(demo, arm, x, values, "GFLOP/s", devices.kind, devices.threads)
        for arm, values in rates.items()
    ]
