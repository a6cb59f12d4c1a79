"""The two times of a call: until it returns, and until its result is there."""

import time
from collections.abc import Callable

from lab.machine.devices import Devices
from lab.timing.clock import synchronize

Samples = tuple[float, ...]


def call_times(
    call: Callable[[], object], devices: Devices, rounds: int
) -> tuple[Samples, Samples]:
    """Seconds until the call returns, and until its result is there, of the same calls."""
    returns, finishes = [], []
    for _ in range(rounds):
        synchronize(devices.devices)
        start = time.perf_counter()
        call()
        returns.append(time.perf_counter() - start)
        synchronize(devices.devices)
        finishes.append(time.perf_counter() - start)
    return tuple(returns), tuple(finishes)
