"""The parts of a training step, by kind of operation: arithmetic, bytes and seconds."""

from collections.abc import Callable
from dataclasses import astuple, dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

aten = torch.ops.aten
CONVOLUTIONS, TO_WEIGHTS, TO_INPUTS = "convolutions", "gradients of weights", "gradients of inputs"
DENSE, POOLING, ACTIVATIONS = "dense layers", "pooling", "activations"
BATCH_NORM, UPDATE, OTHER = "batch norm", "update", "other operations"
KINDS = {
    aten.convolution: CONVOLUTIONS,
    aten.mm: DENSE,
    aten.addmm: DENSE,
    aten.avg_pool2d: POOLING,
    aten.avg_pool2d_backward: POOLING,
    aten.relu: ACTIVATIONS,
    aten.relu_: ACTIVATIONS,
    aten.threshold_backward: ACTIVATIONS,
    aten.native_batch_norm: BATCH_NORM,
    aten.native_batch_norm_backward: BATCH_NORM,
    aten._foreach_sub_: UPDATE,
}


@dataclass
class StepPart:
    """The cost of a step's operations of one kind.

    Attributes:
        seconds: their time, run sequentially.
        flop: their FLOP; a multiply-add counts as two.
        vector_flop: their FLOP including vector elements that no channel fills.
        num_bytes: bytes read and written, counting every tensor every time.
    """

    seconds: float = 0
    flop: float = 0
    vector_flop: float = 0
    num_bytes: float = 0

    def __truediv__(self, steps: int) -> "StepPart":
        """Return the cost per step, given the total of `steps` steps."""
        return StepPart(*(value / steps for value in astuple(self)))


class StepParts(TorchDispatchMode):
    """Counts and times each operation except views within its context.

    It computes a convolution's gradients of weights and of inputs separately, as libraries do.
    Libraries put channels into vectors: the output's channels or, for gradients of inputs, the
    input's.

    Attributes:
        parts: the costs by kind.
    """

    def __init__(self, vector_length: int, clock: Callable[[], float]) -> None:
        """`vector_length` is in numbers; `clock` returns seconds after all work is done."""
        super().__init__()
        self.parts: dict[str, StepPart] = {}
        self._vector_length, self._clock = vector_length, clock

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func.is_view:
            return func(*args, **kwargs)
        packet = func.overloadpacket
        if packet is not aten.convolution_backward:
            channels = args[1].shape[0] if packet is aten.convolution else 0
            return self._timed(KINDS.get(packet, OTHER), channels, func, *args, **kwargs)
        gradient, X, *settings, (to_X, to_W, to_b) = args
        of_X = of_W = of_b = None
        if to_X:
            [of_X, *_] = self._timed(
                TO_INPUTS, X.shape[1], func, gradient, X, *settings, (True, False, False)
            )
        if to_W or to_b:
            [_, of_W, of_b] = self._timed(
                TO_WEIGHTS, gradient.shape[1], func, gradient, X, *settings, (False, to_W, to_b)
            )
        return of_X, of_W, of_b

    def _timed(self, kind: str, channels: int, func: Any, *args: Any, **kwargs: Any) -> Any:
        """Run and count an operation whose vectors hold `channels`; 0: its vectors are full."""
        start = self._clock()
        result = func(*args, **kwargs)
        part = self.parts.setdefault(kind, StepPart())
        part.seconds += self._clock() - start
        count = flop_registry.get(func.overloadpacket)
        flop = count(*args, **kwargs, out_val=result) if count else 0
        part.flop += flop
        part.vector_flop += flop / filled(channels, self._vector_length)
        tensors = [t for t in tree_leaves((args, kwargs, result)) if isinstance(t, Tensor)]
        part.num_bytes += sum(t.numel() * t.element_size() for t in tensors)
        return result


def filled(channels: int, vector_length: int) -> float:
    """Return the share of vector elements that channels fill: 20 fill 5/8 of two vectors of 16."""
    return channels / (-(-channels // vector_length) * vector_length) if channels else 1.0


def vector_length(device: torch.device) -> int:
    """Return how many float32 numbers a vector of torch's kernels holds; 1 on a GPU: no vectors."""
    if device.type == "cuda":
        return 1
    return {"AVX512": 16, "AVX2": 8}.get(torch.backends.cpu.get_cpu_capability(), 4)
