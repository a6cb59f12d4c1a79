"""Take the same steps in less time: bytes in memory, without pixels that LeNet never uses."""

import time

import torch
from torch import Tensor, nn

device = "cuda" if torch.cuda.is_available() else "cpu"
y = torch.randint(10, (2000,), device=device)
noise = torch.randint(128, (2000, 28, 28), device=device)
blocks = torch.randint(128, (10, 4, 4), device=device)
patterns = blocks.kron(blocks.new_ones(1, 7, 7))
images = (patterns[y] + noise).byte()  # of ten classes


def one_by_one(rows: Tensor) -> Tensor:
    floats = [images[row] / 255 for row in rows]
    return torch.stack(floats)[:, None]


def in_memory(rows: Tensor) -> Tensor:
    # LeNet's last pooling drops the other pixels
    return images[rows, None, :26, :26] / 255


for load in (one_by_one, in_memory):
    torch.manual_seed(0)  # the same weights and batches
    net = nn.Sequential(
        *(nn.Conv2d(1, 20, 3), nn.ReLU(), nn.AvgPool2d(2)),
        *(nn.Conv2d(20, 50, 5), nn.ReLU(), nn.AvgPool2d(2)),
        *(nn.Flatten(), nn.Linear(800, 10)),
    ).to(device)
    sgd = torch.optim.SGD(net.parameters(), 0.1)
    start = time.perf_counter()
    for rows in torch.randperm(2000).to(device).split(50):
        logits = net(load(rows))
        loss = nn.functional.cross_entropy(logits, y[rows])
        sgd.zero_grad()
        loss.backward()
        sgd.step()
    last = loss.item()  # waits for a GPU
    seconds = time.perf_counter() - start
    print(f"{load.__name__}: loss {last:.3f}, {seconds:.2f} s")
