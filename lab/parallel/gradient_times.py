"""The times in a backward pass at which gradients are ready."""

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
    """Return, per backward pass, the milliseconds from its start to each parameter's gradient.

    Args:
        net: a net whose parameters all take part in the loss; its gradients are dropped.
        loss: computes the loss again.
        passes: number of passes; the first one also warms up.
        device: the net's device.
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
    """Record the clock's reading, by parameter, when its gradient was last ready."""
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
    """Return a point in time; on a GPU, when the work queued so far is done."""
    if device.type != "cuda":
        return time.perf_counter()
    event = torch.cuda.Event(enable_timing=True)
    event.record()
    return event


def _milliseconds(start: Reading, end: Reading) -> float:
    if isinstance(start, torch.cuda.Event):
        return float(start.elapsed_time(end))
    return float(1e3 * (end - start))
