"""Raise the learning rate with the batch, after a warm-up."""

import torch
import torch.nn.functional as F

device = "cuda" if torch.cuda.is_available() else "cpu"
X = torch.randn(8192, 32, device=device)
y = torch.randint(10, (8192,), device=device)
net = torch.nn.Linear(32, 10, device=device)

small, large, lr = 64, 256, 0.1  # lr works with the small batch
optimizer = torch.optim.SGD(net.parameters(), lr=lr * large / small)
warm_up = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=16)
for rows in torch.randperm(len(X), device=device).split(large):
    optimizer.zero_grad()
    F.cross_entropy(net(X[rows]), y[rows]).backward()
    optimizer.step()
    warm_up.step()  # after each step, not after each epoch
print(f"{warm_up.get_last_lr()[0]:.2g}")
