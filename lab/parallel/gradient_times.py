"""When in a backward pass each gradient is ready."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from lab.timing.clock import synchronize

Reading = Any  # seconds, or a GPU's event


def ready_times(
    net: nn.Module, loss: Callable[[], Tensor], passes: int, device: torch.device
) -> list[dict[str, float]]:
    """Milliseconds from the start of a backward pass to each parameter's gradient, pass by pass.

    Args:
        net: all its parameters take part in the loss; its gradients are dropped.
        loss: computes the loss anew.
        passes: how many are looked at; the first one also warms up.
        device: the net's.
    """
    found = []
    with _noted(net, device) as ready:
        for _ in range(passes):
            net.zero_grad()
            end = loss()
            synchronize([device])
            start = _read(device)
            end.backward()
            synchronize([device])
            found.append({name: _milliseconds(start, reading) for name, reading in ready.items()})
    net.zero_grad()
    return found


@contextmanager
def _noted(net: nn.Module, device: torch.device) -> Iterator[dict[str, Reading]]:
    """By parameter the reading of the clock when its gradient was last ready."""
    ready: dict[str, Reading] = {}

    def note(name: str, _: Tensor) -> None:
        ready[name] = _read(device)

    hooks = [
        param.register_post_accumulate_grad_hook(partial(note, name))
        for name, param in net.named_parameters()
    ]
    try:
        yield ready
    finally:
        for hook in hooks:
            hook.remove()


def _read(device: torch.device) -> Reading:
    """A point in time: a GPU's is that at which it has done what was queued before."""
    if device.type != "cuda":
        return time.perf_counter()
    event = torch.cuda.Event(enable_timing=True)
    event.record()
    return event


def _milliseconds(start: Reading, end: Reading) -> float:
    if isinstance(start, torch.cuda.Event):
        return float(start.elapsed_time(end))
    return float(1e3 * (end - start))
