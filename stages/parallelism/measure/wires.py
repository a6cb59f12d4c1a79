"""What devices send each other, and a count of these bytes and of those that devices hold."""

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks
from torch.utils._python_dispatch import TorchDispatchMode

from lab.parallel.replicas import grad_of

Phase = Literal["forward", "backward", "gradients"]


@dataclass(frozen=True)
class Memory:
    """Bytes that a device holds at the end of the forward pass and needs for a step."""

    params: int
    gradients: int
    # what autograd keeps for the backward pass, the input and the loss's own included
    activations: int

    @property
    def state(self) -> int:
        """What it holds whatever the batch."""
        return self.params + self.gradients

    @property
    def total(self) -> int:
        """All three."""
        return self.state + self.activations


class Wires:
    """Sends between devices, and counts nothing."""

    def send(self, X: Tensor, source: int, target: int, to: torch.device, phase: Phase) -> Tensor:
        """X of device number `source` on number `target`, which is `to`, cut off from the graph."""
        return X.detach() if source == target else X.detach().to(to, copy=True)

    def exchange(self, data: Sequence[Tensor]) -> AbstractContextManager[None]:
        """Surrounds a collective of the devices' tensors `data`, one of each device."""
        return nullcontext()

    def keeping(self, device: int, params: Iterable[Tensor]) -> AbstractContextManager[None]:
        """Surrounds what computes on a device, whose parameters are `params`."""
        return nullcontext()


class ByteCounter(Wires):
    """Counts, while a step runs, what devices send and what they keep for the backward pass."""

    def __init__(self, devices: Sequence[torch.device]) -> None:
        """Start at nothing."""
        self.moved: dict[Phase, int] = {"forward": 0, "backward": 0, "gradients": 0}
        self._kept: list[dict[int, int]] = [{} for _ in devices]
        self._lock = threading.Lock()  # devices send side by side

    def send(self, X: Tensor, source: int, target: int, to: torch.device, phase: Phase) -> Tensor:
        """Send and count."""
        if source != target:
            with self._lock:
                self.moved[phase] += X.nbytes
        return super().send(X, source, target, to, phase)

    @contextmanager
    def exchange(self, data: Sequence[Tensor]) -> Iterator[None]:
        """Count what the collective moves."""
        with Crossings(data) as crossings:
            yield
        self.moved["gradients"] += sum(crossings.received)

    def keeping(self, device: int, params: Iterable[Tensor]) -> saved_tensors_hooks:
        """Count what autograd keeps for the device, each memory once, parameters apart."""
        own = {p.data_ptr() for p in params}

        def pack(X: Tensor) -> Tensor:
            if X.data_ptr() not in own:
                self._kept[device][X.data_ptr()] = X.nbytes
            return X

        return saved_tensors_hooks(pack, lambda X: X)

    def memory(self, params: Sequence[Sequence[Tensor]]) -> list[Memory]:
        """What each device holds; `params` are the devices', with their gradients."""
        return [
            Memory(
                sum(p.nbytes for p in own), sum(grad_of(p).nbytes for p in own), sum(kept.values())
            )
            for own, kept in zip(params, self._kept, strict=True)
        ]


class Crossings(TorchDispatchMode):
    """Adds up the bytes that operations take from other devices' tensors.

    `sent` and `received` are each device's. An operation, and its result, belong to the device of
    its first argument, also where `.to` has moved it: the bytes count when they are used.
    """

    def __init__(self, data: Sequence[Tensor]) -> None:
        """Begin at nothing, with a tensor of each device."""
        super().__init__()
        self.sent, self.received = ([0] * len(data) for _ in range(2))
        self._place = {_address(X): i for i, X in enumerate(data)}
        self._results: list[Tensor] = []  # alive, so that no address is given to another tensor

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run an operation and count."""
        result = func(*args, **(kwargs or {}))
        tensors = [X for X in args if isinstance(X, Tensor)]
        here, *others = [self._place[_address(X)] for X in tensors]
        for X, there in zip(tensors[1:], others, strict=True):
            if there != here:
                self.received[here] += X.nbytes
                self.sent[there] += X.nbytes
        for made in result if isinstance(result, list | tuple) else [result]:
            self._place.setdefault(_address(made), here)
            self._results.append(made)
        return result


def _address(X: Tensor) -> int:
    return X.untyped_storage().data_ptr()
