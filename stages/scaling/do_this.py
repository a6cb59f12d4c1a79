"""How much of a step's all-reduce does not overlap: the difference to a step without one."""

import time
from contextlib import nullcontext

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

if dist.is_torchelastic_launched():  # by torchrun --nproc-per-node 2
    dist.init_process_group()
else:
    dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
gpus = torch.cuda.device_count()
device = f"cuda:{dist.get_rank() % gpus}" if gpus else "cpu"
layers = [nn.Linear(1000, 1000) for _ in range(4)]
net = DistributedDataParallel(nn.Sequential(*layers).to(device), bucket_cap_mb=25)
X = torch.randn(64, 1000, device=device)


def seconds(all_reduce: bool) -> float:
    start = time.perf_counter()
    for _ in range(5):
        with nullcontext() if all_reduce else net.no_sync():
            net(X).sum().backward()
    if gpus:
        torch.cuda.synchronize(device)
    return (time.perf_counter() - start) / 5


seconds(all_reduce=True)  # warm up
added = 1000 * (seconds(True) - seconds(False))
print(f"all-reduce of {dist.get_world_size()}: {added:.1f} ms a step")
dist.destroy_process_group()
