"""Find what limits a layer on any device: measure both limits, count FLOP and bytes, compare."""

import torch
from torch.utils.benchmark import Timer

device = "cuda" if torch.cuda.is_available() else "cpu"
n = 8192 if device == "cuda" else 1024
A = torch.rand(n, n, device=device)
x = torch.rand(2**25, device=device)
y, threads = x.clone(), torch.get_num_threads()


def seconds(work: str) -> float:
    names = {"A": A, "x": x, "y": y}
    timer = Timer(work, globals=names, num_threads=threads)
    return float(timer.blocked_autorange().median)


peak = 2 * n**3 / seconds("A @ A")  # FLOP per second
speed = 2 * x.nbytes / seconds("y.copy_(x)")  # bytes per second
ridge = peak / speed
print(f"ridge: {ridge:.1f} FLOP per byte")
for images in (1, 16, 256):  # through nn.Linear(1024, 1024)
    flop = 2 * images * 1024**2
    moved = 4 * (1024**2 + 2 * images * 1024)
    does = flop / moved
    limit = "arithmetic" if does > ridge else "memory"
    print(f"{images} images: {does:.1f}, limited by {limit}")
