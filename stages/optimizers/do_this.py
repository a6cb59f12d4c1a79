"""Compare optimizers fairly: each at its own best learning rate, judged by other seeds."""

import torch
from torch.optim import SGD, Adagrad, Adam

Maker = type[SGD | Adagrad | Adam]
scales = torch.logspace(0, -1.5, 20)  # one per feature


def loss_after(make: Maker, lr: float, seed: int) -> float:
    torch.manual_seed(seed)
    X, w = torch.randn(400, 20) * scales, torch.zeros(20)
    y = X @ (1 / scales)
    optimizer = make([w.requires_grad_()], lr=lr)
    for rows in torch.randperm(400).split(10):
        optimizer.zero_grad()
        (X[rows] @ w - y[rows]).square().mean().backward()
        optimizer.step()
    loss = (X @ w - y).square().mean()
    return loss.nan_to_num(torch.inf).item()


for make in (SGD, Adagrad, Adam):
    rates = (0.01, 0.1, 1, 10, 100)
    tried = {lr: loss_after(make, lr, seed=0) for lr in rates}
    best = min(tried, key=lambda lr: tried[lr])
    losses = [loss_after(make, best, seed) for seed in (1, 2, 3)]
    shown = ", ".join(f"{loss:.2f}" for loss in losses)
    print(f"{make.__name__} at rate {best}: losses {shown}")
