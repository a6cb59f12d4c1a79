"""`dataparallel`: nn.DataParallel, which the notes use (13.6)."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from lab.parallel.replicas import forward_backward
from lab.training.model import BatchStep, Model


def dataparallel_step(model: Model, devices: Sequence[torch.device]) -> BatchStep:
    """Return the step that replicates the first GPU's net to `devices`, all different, each time.

    Outputs and loss are on the first device. Without GPUs, the step uses the net itself.
    """
    [net], [update] = model.nets, model.updates
    parallel = nn.DataParallel(net, list(devices)) if devices[0].type == "cuda" else net

    def step(X: Tensor, y: Tensor, lr: float, batch_size: int) -> Tensor:
        loss = forward_backward(parallel, X, y, loss=model.loss)
        update(net.parameters(), lr, batch_size)
        return loss

    return step
