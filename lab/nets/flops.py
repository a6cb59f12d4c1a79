"""FLOP and bytes of a network, counted on the `meta` device, where nothing is computed."""

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
    """What a forward pass of a batch takes.

    `num_bytes` is what its operations read and write, every tensor counted every time, as an eager
    run moves them if no cache holds anything; `params` is the number of parameters.
    """

    flop: int
    num_bytes: int
    params: int

    @property
    def intensity(self) -> float:
        """FLOP per byte."""
        return self.flop / self.num_bytes


class _BytesMoved(TorchDispatchMode):
    """The bytes of the tensors that go into and come out of each operation but views."""

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
    """The cost of a forward pass of `net`, without gradients, on a float32 batch of `shape`."""
    net, X = copy.deepcopy(net).to("meta"), torch.empty(shape, device="meta")
    with torch.no_grad():
        with FlopCounterMode(display=False) as flop:
            net(X)
        with _BytesMoved() as moved:
            net(X)
    return Cost(flop.get_total_flops(), moved.num_bytes, sum(p.numel() for p in net.parameters()))


def training_flop(net: nn.Module, shape: tuple[int, ...]) -> int:
    """The FLOP of a forward and a backward pass of `net` on a float32 batch of `shape`.

    A multiply-add counts as two. `net` is copied, and stays in the mode that it is in; batch norm
    counts the same in both.
    """
    net, X = copy.deepcopy(net).to("meta"), torch.empty(shape, device="meta")
    with FlopCounterMode(display=False) as flop:
        net(X).sum().backward()
    return int(flop.get_total_flops())
