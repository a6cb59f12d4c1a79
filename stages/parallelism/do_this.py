"""From how many images per step on data parallelism sends less than a pipeline of two parts."""

import torch
from torch import nn

with torch.device("meta"):  # shapes only: a network of any size takes no memory
    first = nn.Sequential(
        *(nn.Conv2d(1, 20, 3), nn.ReLU(), nn.AvgPool2d(2)),
        *(nn.Conv2d(20, 50, 5), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten()),
    )
    second = nn.Sequential(nn.Linear(800, 128), nn.ReLU(), nn.Linear(128, 10))
    image = torch.empty(1, 1, 28, 28)

gradients = sum(p.nbytes for part in (first, second) for p in part.parameters())
activations = first(image).nbytes
# on two devices either is sent twice, so a factor of 2 cancels
print(f"{gradients / activations:.0f} images")
