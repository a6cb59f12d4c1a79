"""Convert images one by one, as a data set does, or a whole batch of bytes in memory."""

import time
from collections.abc import Callable

import torch
from torch import Tensor

torch.set_num_threads(1)  # more would wait for each other
device = "cuda" if torch.cuda.is_available() else "cpu"
# use yours: FashionMNIST(...).data
images = torch.randint(256, (1000, 28, 28)).byte()
in_memory = images.to(device)  # once, as bytes


def one_by_one(rows: Tensor) -> Tensor:
    floats = [images[row] / 255 for row in rows]
    return torch.stack(floats)[:, None].to(device)


def batch_by_batch(rows: Tensor) -> Tensor:
    return in_memory[rows.to(device), None] / 255


def seconds(convert: Callable[[Tensor], Tensor]) -> float:
    start = time.perf_counter()
    for rows in torch.randperm(1000).split(250):
        X = convert(rows)  # your training step takes X
    X[0, 0, 0, 0].item()  # wait for a GPU
    return time.perf_counter() - start


# alternating; the first round only warms up
rounds = [(seconds(one_by_one), seconds(batch_by_batch)) for _ in range(20)]
a, b = (sorted(times)[:5] for times in zip(*rounds, strict=True))
if a[4] < b[0] or b[4] < a[0]:  # the best five do not overlap
    print(f"one by one: {1000 / a[0]:,.0f} images/s")
    print(f"batch by batch: {1000 / b[0]:,.0f} images/s")
else:
    print("too busy to tell: try again")
