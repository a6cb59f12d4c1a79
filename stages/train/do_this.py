"""Compare the gradients of a whole batch and of its two halves."""

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

device = "cuda" if torch.cuda.is_available() else "cpu"
X = torch.randn(64, 20, device=device)
y = X[:, :10].argmax(1)


def gradient(net: nn.Module, parts: int) -> Tensor:
    loss = torch.zeros((), device=device)
    for a, b in zip(X.chunk(parts), y.chunk(parts), strict=True):
        loss = loss + cross_entropy(net(a), b, reduction="sum")
    return torch.autograd.grad(loss, next(net.parameters()))[0]


norms = {"without": nn.Identity(), "with": nn.BatchNorm1d(32)}
for name, norm in norms.items():
    layers = (nn.Linear(20, 32), norm, nn.ReLU())
    net = nn.Sequential(*layers, nn.Linear(32, 10)).to(device)
    whole, halves = gradient(net, 1), gradient(net, 2)
    gap = (whole - halves).norm() / whole.norm()
    print(f"{name} batch norm: {100 * gap:.2g}% apart")
