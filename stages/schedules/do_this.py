"""Set the learning rate before each step: warm-up, then a cosine."""

import math

import torch

steps, warm_up, base = 200, 20, 0.3


def rate(step: int) -> float:
    if step < warm_up:
        return base * (step + 1) / warm_up
    done = (step - warm_up) / (steps - warm_up)
    return base * (1 + math.cos(math.pi * done)) / 2


w = torch.randn(20)  # the weights to find
net = torch.nn.Linear(20, 1)
sgd = torch.optim.SGD(net.parameters())
for step in range(steps):
    # before the step, not after the epoch
    sgd.param_groups[0]["lr"] = rate(step)
    X = torch.randn(32, 20)
    y = X @ w + torch.randn(32)
    sgd.zero_grad()
    (net(X)[:, 0] - y).square().mean().backward()
    sgd.step()
    if step % 40 == 19 or step == steps - 1:
        error = (net.weight - w).norm()
        print(f"{step}: rate {rate(step):.3f}, error {error:.2f}")
