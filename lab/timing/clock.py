"""The clock: monotonic, and read only when every device has finished its work."""

import time
from collections.abc import Sequence

import torch


def synchronize(devices: Sequence[torch.device]) -> None:
    """Wait for every CUDA device of the list; `torch.cuda.synchronize()` waits for one only."""
    for device in {device for device in devices if device.type == "cuda"}:
        torch.cuda.synchronize(device)


def read_clock(devices: Sequence[torch.device]) -> float:
    """Monotonic seconds, after waiting for `devices`."""
    synchronize(devices)
    return time.perf_counter()
