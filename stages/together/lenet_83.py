"""Train LeNet on Fashion-MNIST past 83% test accuracy in one epoch; needs only torch.

Usage: python lenet_83.py [FOLDER]; missing images are downloaded to FOLDER (default: data).
"""

import ctypes
import gzip
import sys
import time
from pathlib import Path
from urllib.request import urlopen

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.optim import SGD

MIRROR = "https://storage.googleapis.com/tensorflow/tf-keras-datasets"


class Flatten(nn.Module):
    def forward(self, X: Tensor) -> Tensor:
        return X.permute(0, 2, 3, 1).flatten(1)  # channels are last in memory, so nothing is copied


def lenet() -> nn.Sequential:
    net = nn.Sequential(
        *(nn.Conv2d(1, 20, 3), nn.ReLU(inplace=True), nn.AvgPool2d(2)),
        *(nn.Conv2d(20, 50, 5), nn.ReLU(inplace=True), nn.AvgPool2d(2)),
        *(Flatten(), nn.Linear(800, 128), nn.ReLU(), nn.Linear(128, 10)),
    )
    for p in net.parameters():
        if p.ndim > 1:
            nn.init.kaiming_normal_(p, nonlinearity="relu")  # He: signals keep their size
        else:
            nn.init.zeros_(p)
    return net


def read(folder: str, half: str) -> tuple[Tensor, Tensor]:
    """Return the images (n, 28, 28) and labels (n,) of half `train` or `t10k`."""
    images = content(folder, f"{half}-images-idx3-ubyte")[16:]  # after the file's header
    labels = content(folder, f"{half}-labels-idx1-ubyte")[8:]
    return images.view(-1, 28, 28), labels.long()


def content(folder: str, name: str) -> Tensor:
    """Return the bytes of a file; download the file unless it is where torchvision keeps it."""
    path = Path(folder, "FashionMNIST", "raw", name)
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        with urlopen(f"{MIRROR}/{name}.gz") as answer:  # noqa: S310  (https)
            path.write_bytes(gzip.decompress(answer.read()))
    return torch.frombuffer(bytearray(path.read_bytes()), dtype=torch.uint8)


def floats(images: Tensor) -> Tensor:
    used = images[:, :26, :26, None]  # LeNet's last pooling drops the effect of the other pixels
    return (used / 255).permute(0, 3, 1, 2)  # channels-last: faster for convolutions


def rates(num_steps: int) -> list[float]:
    times = [(step + 0.5) / num_steps for step in range(num_steps)]
    # one cycle: up to 0.15 in a quarter of the steps, then down to 0
    return [0.15 * min(0.1 + 0.9 * t / 0.25, (1 - t) / 0.75) for t in times]


def train(net: nn.Module, X: Tensor, y: Tensor) -> None:
    # steps in the same direction add up
    optimizer = SGD(net.parameters(), momentum=0.9, nesterov=True)
    device, bf16 = X.device.type, fast_in_bf16(X.device)
    batches = torch.randperm(len(X), device=device).split(256)
    for rows, lr in zip(batches, rates(len(batches)), strict=True):
        optimizer.param_groups[0]["lr"] = lr
        # one call converts a whole batch
        batch = floats(X[rows])
        # half the bytes, where that is fast
        with torch.autocast(device, torch.bfloat16, bf16):
            logits = net(batch)
        loss = cross_entropy(logits.float(), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def fast_in_bf16(device: torch.device) -> bool:
    if device.type == "cuda":
        return torch.cuda.get_device_capability(device) >= (8, 0)
    found = torch.cpu.get_capabilities()  # without them, bfloat16 is slower than float32
    return bool(found.get("avx512_bf16") or found.get("amx_bf16"))


def keep_freed_memory() -> None:
    if sys.platform == "linux":  # otherwise it takes memory back and clears it before reuse
        libc = ctypes.CDLL(None)
        libc.mallopt(-1, 2**31 - 1)  # M_TRIM_THRESHOLD
        libc.mallopt(-3, 2**25)  # M_MMAP_THRESHOLD


def main(folder: str = "data") -> None:
    keep_freed_memory()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    (X, y), (X_test, y_test) = read(folder, "train"), read(folder, "t10k")
    torch.manual_seed(0)  # other seeds differ by up to one percentage point
    net = lenet().to(device)
    start = time.perf_counter()
    train(net, X.to(device), y.to(device))  # the whole data set in memory
    if device == "cuda":
        torch.cuda.synchronize()
    seconds = time.perf_counter() - start
    with torch.inference_mode():
        right = net(floats(X_test.to(device))).argmax(1).cpu() == y_test
    print(f"{100 * right.float().mean():.2f}% test accuracy after {seconds:.1f} s")


if __name__ == "__main__":
    main(*sys.argv[1:])
