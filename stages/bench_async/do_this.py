"""Time work on any device: warm up, wait, and repeat in fresh processes."""

import time

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
X = torch.randn(1000, 1000, device=device)


def wait() -> None:
    if device == "cuda":
        torch.cuda.synchronize()


X @ X  # warm up,
wait()  # then wait for it
start = time.perf_counter()
for _ in range(10):
    X @ X
wait()  # wait again before the clock is read
print(f"{(time.perf_counter() - start) / 10:.2e} s")
