"""Compute on two devices concurrently: GPUs only need calls, a CPU needs threads."""

import time
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import Tensor

gpus = [f"cuda:{i}" for i in range(torch.cuda.device_count())]
devices = gpus or ["cpu", "cpu"]  # two halves of one CPU
if not gpus:
    cores = torch.get_num_threads()
    torch.set_num_threads(max(1, cores // 2))
inputs = [torch.rand(1000, 1000, device=where) for where in devices]


def job(X: Tensor) -> None:
    for _ in range(10):
        X @ X
    if gpus:
        torch.cuda.synchronize(X.device)


# GPUs need no threads if you wait after all calls
pool = ThreadPoolExecutor(len(devices))
for name in ("sequentially", "concurrently") * 2:  # the first two warm up
    start = time.perf_counter()
    run = map if name == "sequentially" else pool.map
    list(run(job, inputs))  # waits for both
    print(f"{name}: {time.perf_counter() - start:.3f} s")
