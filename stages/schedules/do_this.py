"""Set the learning rate before each step: warm-up, then a cosine."""

import math

import torch

steps, warm_up, base = 40, 10, 0.3
net = torch.nn.Linear(20, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=base)
for step in range(steps):
    rising = (step + 1) / warm_up
    falling = 0.5 + 0.5 * math.cos(math.pi * max(0, step - warm_up) / (steps - warm_up))
    for group in optimizer.param_groups:
        group["lr"] = base * min(rising, falling)  # before the step, not after the epoch
    X = torch.randn(32, 20)
    optimizer.zero_grad()
    (net(X) - X[:, :1]).square().mean().backward()
    optimizer.step()
    print(step, f"{optimizer.param_groups[0]['lr']:.3f}")
