"""Compare the gradient of a whole batch with that of its two halves."""

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

device = "cuda" if torch.cuda.is_available() else "cpu"
X = torch.randn(64, 20, device=device)
y = torch.randint(10, (64,), device=device)


def gradient(net: nn.Module, parts: int) -> Tensor:
    shares = zip(X.chunk(parts), y.chunk(parts), strict=True)
    losses = [cross_entropy(net(a), b, reduction="sum") for a, b in shares]
    return torch.autograd.grad(torch.stack(losses).sum(), next(net.parameters()))[0]


for name, layer in [("without", nn.Identity()), ("with", nn.BatchNorm1d(32))]:
    net = nn.Sequential(nn.Linear(20, 32), layer, nn.ReLU(), nn.Linear(32, 10))
    whole, halves = (gradient(net.to(device), parts) for parts in (1, 2))
    gap = (whole - halves).norm() / whole.norm()
    print(f"{name} batch norm: differs by {gap:.0e}")
