"""Train with images in memory, PyTorch's own initialization, Nesterov momentum and one cycle."""

import torch
from torch import nn
from torch.optim.lr_scheduler import OneCycleLR

device = "cuda" if torch.cuda.is_available() else "cpu"
X = torch.rand(6000, 784, device=device)  # all images, moved once
y = torch.randint(10, (6000,), device=device)
net = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))
net.to(device)  # PyTorch's default weights let small networks learn
batches = torch.randperm(len(X), device=device).split(128)
optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9, nesterov=True)
schedule = OneCycleLR(optimizer, 0.1, len(batches), cycle_momentum=False)
for rows in batches:
    loss = nn.functional.cross_entropy(net(X[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
print(f"loss of the last batch: {loss.item():.2f}")
