"""The clock: monotonic, and read only when every device has finished its work."""

import time
from collections.abc import Iterator, Sequence

import torch


def synchronize(devices: Sequence[torch.device]) -> None:
    """Wait for every CUDA device of the list; `torch.cuda.synchronize()` waits for one only."""
    for device in {device for device in devices if device.type == "cuda"}:
        torch.cuda.synchronize(device)


def read_clock(devices: Sequence[torch.device]) -> float:
    """Monotonic seconds, after waiting for `devices`."""
    synchronize(devices)
    return time.perf_counter()


def time_parts(parts: Iterator[str], devices: Sequence[torch.device]) -> dict[str, float]:
    """The seconds of each part, whose name is yielded when it is done.

    Nothing overlaps: each part waits for the one before it on every device, so their sum is an
    upper bound of what a step takes in training.
    """
    times = [read_clock(devices)]
    seconds = {}
    for part in parts:
        times.append(read_clock(devices))
        seconds[part] = times[-1] - times[-2]
    return seconds
