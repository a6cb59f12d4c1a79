"""Raise the learning rate with the batch, after a warm-up."""

import torch
from torch.nn.functional import cross_entropy
from torch.optim.lr_scheduler import LinearLR

device = "cuda" if torch.cuda.is_available() else "cpu"
X = torch.randn(8192, 32, device=device)
y = (X @ torch.randn(32, 10, device=device)).argmax(1)


def loss_after_an_epoch(batch: int, lr: float) -> float:
    net = torch.nn.Linear(32, 10, device=device)
    sgd = torch.optim.SGD(net.parameters(), lr)
    warm_up = LinearLR(sgd, 0.1, total_iters=8)
    for rows in torch.randperm(len(X)).to(device).split(batch):
        sgd.zero_grad()
        cross_entropy(net(X[rows]), y[rows]).backward()
        sgd.step()
        warm_up.step()  # after each step, not each epoch
    return cross_entropy(net(X), y).item()


for batch, lr in [(64, 0.1), (256, 0.1), (256, 0.4)]:
    loss = loss_after_an_epoch(batch, lr)
    print(f"batch {batch}, rate {lr}: loss {loss:.2f}")
