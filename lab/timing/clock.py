"""Honest clocks: monotonic, and read only when every device has finished what it was given."""

import time
from collections.abc import Sequence

import torch


def synchronize(devices: Sequence[torch.device]) -> None:
    """Wait for all work on all CUDA devices of the list; `torch.cuda.synchronize()` alone waits for
    one.
    """
    for device in {device for device in devices if device.type == "cuda"}:
        torch.cuda.synchronize(device)


def read_clock(devices: Sequence[torch.device]) -> float:
    """Return monotonic seconds, after waiting for `devices`."""
    synchronize(devices)
    return time.perf_counter()
