"""Sum the gradients of all processes as one bucket."""

import torch
import torch.distributed as dist
from torch import nn

# under torchrun, dist.init_process_group() finds the other processes
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
net = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))
net(torch.rand(64, 784)).sum().backward()

gradients = [p.grad for p in net.parameters() if p.grad is not None]
bucket = torch.cat([g.flatten() for g in gradients])
dist.all_reduce(bucket)  # one call, whatever the number of tensors
bucket /= dist.get_world_size()
means = bucket.split([g.numel() for g in gradients])
for g, mean in zip(gradients, means, strict=True):
    g.copy_(mean.view_as(g))
dist.destroy_process_group()
