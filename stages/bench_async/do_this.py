"""Time work on any device: warm up, wait, and only then read the clock."""

import time

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
X = torch.randn(1000, 1000, device=device)


def wait() -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def seconds() -> tuple[float, float]:
    wait()  # for what came before
    start = time.perf_counter()
    for _ in range(10):
        X @ X
    called = time.perf_counter() - start
    wait()  # on a GPU, the work continues until here
    return time.perf_counter() - start, called


# the first round warms up; take the least disturbed one
ready, called = min([seconds() for _ in range(6)][1:])
print(f"called after {1000 * called:.2f} ms")
print(f"ready after {1000 * ready:.2f} ms")
