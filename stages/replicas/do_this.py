"""Keep replicas one network: write the sum into the gradients, then compare the replicas."""

from collections.abc import Callable

import torch
from torch import Tensor


def wrong(data: list[Tensor]) -> None:
    total = torch.stack(data).sum(0)
    for i in range(len(data)):
        data[i] = total  # changes only the list


def right(data: list[Tensor]) -> None:
    total = torch.stack(data).sum(0)
    for gradient in data:
        gradient.copy_(total)


def drift(all_reduce: Callable[[list[Tensor]], None]) -> float:
    a = torch.zeros(4, requires_grad=True)
    b = torch.zeros(4, requires_grad=True)  # a.to may return a itself
    sgd = torch.optim.SGD([a, b], lr=0.1)
    for _ in range(20):
        sgd.zero_grad()
        for w in (a, b):
            X = torch.randn(8, 4)
            (X @ w - X[:, 0]).square().mean().backward()
        all_reduce([w.grad for w in (a, b) if w.grad is not None])
        sgd.step()
    return (a - b).abs().max().item()


for way in (wrong, right):
    print(f"{way.__name__}: weights differ by {drift(way):.2g}")
