"""Compute on two devices concurrently: GPUs only need calls, a CPU needs threads."""

import time
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import Tensor

gpus = torch.cuda.device_count() > 1
devices = ["cuda:0", "cuda:1"] if gpus else ["cpu", "cpu"]  # two halves of one CPU
half = max(1, torch.get_num_threads() // 2)
n = 4000 if gpus else 500
inputs = [torch.rand(n, n, device=where) for where in devices]
# GPUs need no threads if you wait after all calls
pool = ThreadPoolExecutor(2)


def job(X: Tensor) -> None:
    torch.set_num_threads(half)  # each thread sets its own
    for _ in range(4):
        X @ X
    if gpus:
        torch.cuda.synchronize(X.device)


def seconds(concurrently: bool) -> float:
    start = time.perf_counter()
    run = pool.map if concurrently else map
    list(run(job, inputs))  # waits for both
    return time.perf_counter() - start


# alternating; the first round only warms up
rounds = [(seconds(False), seconds(True)) for _ in range(40)]
a, b = (sorted(times)[:5] for times in zip(*rounds, strict=True))
if b[4] < a[0]:  # b's best five beat a's
    print(f"sequentially: {1000 * a[0]:.2f} ms")
    print(f"concurrently: {1000 * b[0]:.2f} ms")
else:
    print("no gain, or too busy to tell: try again")
