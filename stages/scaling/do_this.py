"""Measure how much of a step's all-reduce does not overlap: compare with a step without one."""

import time
from contextlib import nullcontext

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

if not dist.is_torchelastic_launched():
    print("start it with: torchrun --nproc-per-node 2 do_this.py")
    raise SystemExit
dist.init_process_group()
gpus = torch.cuda.device_count()
device = f"cuda:{dist.get_rank() % gpus}" if gpus else "cpu"
layers = [nn.Linear(1000, 1000) for _ in range(4)]
net = DistributedDataParallel(nn.Sequential(*layers).to(device), bucket_cap_mb=25)
X = torch.randn(64, 1000, device=device)


def seconds(all_reduce: bool) -> float:
    dist.barrier()
    start = time.perf_counter()
    with nullcontext() if all_reduce else net.no_sync():
        net(X).sum().backward()
    if gpus:
        torch.cuda.synchronize(device)
    return time.perf_counter() - start


# alternating; the first round only warms up
rounds = [(seconds(True), seconds(False)) for _ in range(20)]
a, b = (sorted(times)[:5] for times in zip(*rounds, strict=True))
if dist.get_rank() == 0:
    if a[0] > b[4]:  # the best five of each
        print(f"all-reduce: {1000 * (a[0] - b[0]):.1f} ms a step")
    else:
        print("too busy to tell: try again")
dist.destroy_process_group()
