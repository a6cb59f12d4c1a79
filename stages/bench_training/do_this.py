"""Take the same steps in less time: keep bytes in memory, drop pixels that LeNet never uses."""

import time

import torch
from torch import Tensor, nn

torch.set_num_threads(1)  # more would wait for each other
device = "cuda" if torch.cuda.is_available() else "cpu"
images = torch.randint(256, (1000, 28, 28)).byte().to(device)
y = torch.randint(10, (1000,), device=device)


def one_by_one(rows: Tensor) -> Tensor:
    floats = [images[row] / 255 for row in rows]
    return torch.stack(floats)[:, None]


def in_memory(rows: Tensor) -> Tensor:
    # LeNet's last pooling drops the other pixels
    return images[rows, None, :26, :26] / 255


loops = []
for load in (one_by_one, in_memory):
    torch.manual_seed(0)  # the same weights
    net = nn.Sequential(
        *(nn.Conv2d(1, 20, 3), nn.ReLU(), nn.AvgPool2d(2)),
        *(nn.Conv2d(20, 50, 5), nn.ReLU(), nn.AvgPool2d(2)),
        *(nn.Flatten(), nn.Linear(800, 10)),
    ).to(device)
    sgd = torch.optim.SGD(net.parameters(), 0.1)
    loops.append((load, net, sgd))
rows = torch.randperm(1000)[:25].to(device)
rounds, losses = [], []
for _ in range(80):  # alternating; the first steps only warm up
    for load, net, sgd in loops:
        start = time.perf_counter()
        loss = nn.functional.cross_entropy(net(load(rows)), y[rows])
        sgd.zero_grad()
        loss.backward()
        sgd.step()
        losses.append(loss.item())  # waits for a GPU
        rounds.append(time.perf_counter() - start)
print(f"losses: {losses[-2]:.3f} and {losses[-1]:.3f}")
a, b = sorted(rounds[::2])[:5], sorted(rounds[1::2])[:5]
if a[4] < b[0] or b[4] < a[0]:  # the best five do not overlap
    print(f"one by one: {1000 * a[0]:.2f} ms a step")
    print(f"in memory: {1000 * b[0]:.2f} ms a step")
else:
    print("too busy to tell: try again")
