"""FLOP and bytes of a network, counted on the `meta` device, which computes nothing."""

import copy
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode


@dataclass(frozen=True)
class Cost:
    """The cost of a batch's forward pass.

    `num_bytes` is what its operations read and write, counting every tensor every time: what an
    eager run moves if no cache holds anything. `params` is the number of parameters.
    """

    flop: int
    num_bytes: int
    params: int

    @property
    def intensity(self) -> float:
        """FLOP per byte."""
        return self.flop / self.num_bytes


class _BytesMoved(TorchDispatchMode):
    """Counts the bytes of the input and output tensors of each operation except views."""

    def __init__(self) -> None:
        super().__init__()
        self.num_bytes = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if not func.is_view:
            tensors = [t for t in tree_leaves((args, kwargs, result)) if isinstance(t, Tensor)]
            self.num_bytes += sum(t.numel() * t.element_size() for t in tensors)
        return result


def forward_cost(net: nn.Module, shape: tuple[int, ...]) -> Cost:
    """Return the cost of a forward pass of `net`, without gradients, on a float32 batch."""
    net, X = copy.deepcopy(net).to("meta"), torch.empty(shape, device="meta")
    with torch.no_grad():
        with FlopCounterMode(display=False) as flop:
            net(X)
        with _BytesMoved() as moved:
            net(X)
    return Cost(flop.get_total_flops(), moved.num_bytes, sum(p.numel() for p in net.parameters()))


def training_flop(net: nn.Module, shape: tuple[int, ...]) -> int:
    """Return the FLOP of a forward and a backward pass of `net` on a float32 batch of `shape`.

    A multiply-add counts as two. `net` is copied, and keeps its mode; batch norm counts the same in
    both modes.
    """
    net, X = copy.deepcopy(net).to("meta"), torch.empty(shape, device="meta")
    with FlopCounterMode(display=False) as flop:
        net(X).sum().backward()
    return int(flop.get_total_flops())
