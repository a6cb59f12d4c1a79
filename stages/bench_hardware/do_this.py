"""Find what limits a layer on a device: measure both limits, count FLOP and bytes, compare."""

import torch
from torch.utils.benchmark import Timer

device = "cuda" if torch.cuda.is_available() else "cpu"
n = 8192 if device == "cuda" else 1024
A = torch.rand(n, n, device=device)
x = torch.rand(2**25, device=device)
y, threads = x.clone(), torch.get_num_threads()
names = {"A": A, "x": x, "y": y}
timers = [Timer(work, globals=names, num_threads=threads) for work in ("A @ A", "y.copy_(x)")]

# alternating; only the least disturbed count
rounds = [[timer.timeit(2).mean for timer in timers] for _ in range(10)]
a, b = (sorted(times)[:3] for times in zip(*rounds, strict=True))
flop, moved = 2 * n**3, 2 * x.nbytes
low = flop / a[2] / (moved / b[0])  # FLOP per second
high = flop / a[0] / (moved / b[2])  # divided by bytes per second
print(f"ridge: {low:.1f} to {high:.1f} FLOP per byte")
for images in (1, 16, 256):  # through nn.Linear(1024, 1024)
    flop = 2 * images * 1024**2
    moved = 4 * (1024**2 + 2 * images * 1024)
    does = flop / moved
    # near the ridge, it may be either
    limit = "memory" if does < low else "arithmetic" if does > high else "either"
    print(f"{images} images: {does:.1f}, limited by {limit}")
