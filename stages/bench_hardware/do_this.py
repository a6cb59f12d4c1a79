"""Find what limits a layer on any device: measure the roof, count FLOP and bytes, compare."""

import torch
from torch.utils.benchmark import Timer

device = "cuda" if torch.cuda.is_available() else "cpu"
n = 8192 if device == "cuda" else 1024
A, x = torch.rand(n, n, device=device), torch.rand(2**25, device=device)
y, threads = x.clone(), torch.get_num_threads()


def seconds(work: str) -> float:
    timer = Timer(work, globals=globals(), num_threads=threads)
    return float(timer.blocked_autorange().median)


peak = 2 * n**3 / seconds("A @ A")  # FLOP per second
bandwidth = 2 * x.nbytes / seconds("y.copy_(x)")  # bytes per second
for images in (1, 16, 256):  # through nn.Linear(1024, 1024)
    flop = 2 * images * 1024**2
    moved = 4 * (1024**2 + 2 * images * 1024)
    limit = "arithmetic" if flop / moved > peak / bandwidth else "memory"
    print(f"{images} images: limited by {limit}")
