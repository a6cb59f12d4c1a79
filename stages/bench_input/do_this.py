"""Convert images one by one, as a data set does, or a whole batch of bytes that is in memory."""

import time

import torch
from torch import Tensor

device = "cuda" if torch.cuda.is_available() else "cpu"
# yours: FashionMNIST(...).data
images = torch.randint(256, (10_000, 28, 28)).byte()
in_memory = images.to(device)  # once, as bytes


def one_by_one(rows: Tensor) -> Tensor:
    floats = [images[row] / 255 for row in rows]
    return torch.stack(floats)[:, None].to(device)


def batch_by_batch(rows: Tensor) -> Tensor:
    return in_memory[rows.to(device), None] / 255


for convert in (one_by_one, batch_by_batch):
    start = time.perf_counter()
    for rows in torch.randperm(len(images)).split(256):
        X = convert(rows)  # your training step takes X
    X[0, 0, 0, 0].item()  # wait for a GPU
    seconds = time.perf_counter() - start
    rate = len(images) / seconds
    print(f"{convert.__name__}: {rate:,.0f} images/s")
