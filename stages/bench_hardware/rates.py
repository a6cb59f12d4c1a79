"""Times of arithmetic as its rate."""

from collections.abc import Mapping

from lab.machine.devices import Devices
from lab.results.measurements import Measurement


def gflop_per_s(
    demo: str, x: float, times: Mapping[str, tuple[float, ...]], flop: float, devices: Devices
) -> list[Measurement]:
    """Measurements in GFLOP/s, of the seconds per call that `time_arms` gives for `flop`."""
    rates = {arm: tuple(flop / t / 1e9 for t in seconds) for arm, seconds in times.items()}
    return [
        Measurement(demo, arm, x, values, "GFLOP/s", devices.kind, devices.threads)
        for arm, values in rates.items()
    ]
