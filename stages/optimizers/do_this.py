"""Compare optimizers fairly: each at its own best learning rate, judged by other seeds."""

import torch
from torch.optim import SGD, Adagrad, Adam

scales = torch.logspace(0, -1.5, 20)  # of 20 features


def loss_after(make: type[SGD | Adagrad | Adam], lr: float, seed: int) -> float:
    torch.manual_seed(seed)
    X, w = torch.randn(400, 20) * scales, torch.zeros(20, requires_grad=True)
    y, optimizer = X @ (1 / scales), make([w], lr=lr)
    for rows in torch.randperm(400).split(10):
        optimizer.zero_grad()
        (X[rows] @ w - y[rows]).square().mean().backward()
        optimizer.step()
    return (X @ w - y).square().mean().nan_to_num(torch.inf).item()


for make in (SGD, Adagrad, Adam):
    tried = {lr: loss_after(make, lr, seed=0) for lr in (0.01, 0.1, 1, 10)}
    best = min(tried, key=lambda lr: tried[lr])
    print(make.__name__, best, [loss_after(make, best, i) for i in (1, 2, 3)])
