"""Compute on two devices concurrently: GPUs only need calls, a CPU needs threads."""

from concurrent.futures import ThreadPoolExecutor

import torch

gpus = [torch.device("cuda", i) for i in range(torch.cuda.device_count())]


def job(X: torch.Tensor) -> list[torch.Tensor]:
    return [X @ X for _ in range(10)]


if gpus:  # calls only queue work: do not wait between the jobs,
    results = [job(torch.rand(1000, 1000, device=gpu)) for gpu in gpus]
    for gpu in gpus:  # but wait for each GPU at the end
        torch.cuda.synchronize(gpu)
else:  # a thread for each device, with its share of the cores
    cores = max(1, torch.get_num_threads() // 2)
    with ThreadPoolExecutor(2, initializer=torch.set_num_threads, initargs=(cores,)) as pool:
        results = list(pool.map(job, [torch.rand(1000, 1000)] * 2))
