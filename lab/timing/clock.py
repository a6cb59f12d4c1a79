"""The clock: monotonic, and read only after every device has finished its work."""

import time
from collections.abc import Iterator, Sequence

import torch


def synchronize(devices: Sequence[torch.device]) -> None:
    """Wait for every CUDA device in the list; `torch.cuda.synchronize()` only waits for one."""
    for device in {device for device in devices if device.type == "cuda"}:
        torch.cuda.synchronize(device)


def read_clock(devices: Sequence[torch.device]) -> float:
    """Return monotonic seconds after synchronizing `devices`."""
    synchronize(devices)
    return time.perf_counter()


def time_parts(parts: Iterator[str], devices: Sequence[torch.device]) -> dict[str, float]:
    """Return the seconds of each part; `parts` yields a part's name when the part is done.

    Parts do not overlap, since all devices are synchronized between them. So their sum is an upper
    bound of a training step's time.
    """
    times = [read_clock(devices)]
    seconds = {}
    for part in parts:
        times.append(read_clock(devices))
        seconds[part] = times[-1] - times[-2]
    return seconds
