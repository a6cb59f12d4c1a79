"""Counting the bytes that devices send each other in a step, and those that they hold."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
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
    def total(self) -> int:
        """All three."""
        return self.params + self.gradients + self.activations


class ByteCounter:
    """Counts, while a step runs, what devices send and what they keep for the backward pass."""

    def __init__(self, devices: Sequence[torch.device]) -> None:
        """Start at nothing."""
        self.devices = devices
        self.moved: dict[Phase, int] = {"forward": 0, "backward": 0, "gradients": 0}
        self._kept: list[dict[int, int]] = [{} for _ in devices]

    def send(self, X: Tensor, source: int, target: int, phase: Phase) -> Tensor:
        """X of device `source` on device `target`, cut off from the graph and counted."""
        if source == target:
            return X.detach()
        self.moved[phase] += X.nbytes
        return X.detach().to(self.devices[target], copy=True)

    @contextmanager
    def exchange(self, data: Sequence[Tensor]) -> Iterator[None]:
        """Count what a collective moves between the devices' tensors `data`, one of each device."""
        with _Crossings(data) as crossings:
            yield
        self.moved["gradients"] += crossings.num_bytes

    def keeping(self, device: int, params: Iterable[Tensor]) -> saved_tensors_hooks:
        """Count what autograd keeps on `device`, each memory once, parameters apart."""
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


class _Crossings(TorchDispatchMode):
    """Adds up the bytes that operations take from other devices' tensors.

    An operation, and its result, belong to the device of its first argument, also where `.to` has
    moved it: the bytes count when they are used.
    """

    def __init__(self, data: Sequence[Tensor]) -> None:
        super().__init__()
        self.num_bytes = 0
        self._place = {_address(X): i for i, X in enumerate(data)}
        self._results: list[Tensor] = []  # alive, so that no address is given to another tensor

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        first, *others = [X for X in args if isinstance(X, Tensor)]
        here = self._place[_address(first)]
        self.num_bytes += sum(X.nbytes for X in others if self._place[_address(X)] != here)
        self._place.setdefault(_address(result), here)
        self._results.append(result)
        return result


def _address(X: Tensor) -> int:
    return X.untyped_storage().data_ptr()
