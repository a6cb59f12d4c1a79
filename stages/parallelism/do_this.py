"""Find the images per step above which data parallelism sends less than a two-part pipeline."""

import torch
from torch import nn

# shapes only: a network of any size takes no memory
with torch.device("meta"):
    first = nn.Sequential(
        *(nn.Conv2d(1, 20, 3), nn.ReLU(), nn.AvgPool2d(2)),
        *(nn.Conv2d(20, 50, 5), nn.ReLU(), nn.AvgPool2d(2)),
        nn.Flatten(),
    )
    hidden = (nn.Linear(800, 128), nn.ReLU())
    second = nn.Sequential(*hidden, nn.Linear(128, 10))
    image = torch.empty(1, 1, 28, 28)

parameters = [*first.parameters(), *second.parameters()]
gradients = sum(p.nbytes for p in parameters)
activations = first(image).nbytes
print(f"gradients: {gradients / 1000:.1f} kB a step")
print(f"activations: {activations / 1000:.1f} kB an image")
# on two devices each is sent twice, so a factor of 2 cancels
print(f"as much at {gradients / activations:.0f} images a step")
