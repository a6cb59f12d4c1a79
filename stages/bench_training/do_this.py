"""Train from images that stay in memory as bytes, without pixels that LeNet never uses."""

import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
images = torch.randint(256, (6000, 1, 28, 28), dtype=torch.uint8, device=device)
labels = torch.randint(10, (6000,), device=device)
net = nn.Sequential(nn.Conv2d(1, 20, 3), nn.ReLU(), nn.AvgPool2d(2))
net.extend([nn.Conv2d(20, 50, 5), nn.ReLU(), nn.AvgPool2d(2)])  # drops a row
net.extend([nn.Flatten(), nn.Linear(50 * 4 * 4, 10)]).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for rows in torch.randperm(len(images), device=device).split(256):
    X = images[rows, :, :26, :26] / 255  # a whole batch becomes floats
    loss = nn.functional.cross_entropy(net(X), labels[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss of the last batch: {loss.item():.2f}")
