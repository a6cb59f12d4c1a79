"""`ddp`: DistributedDataParallel, one process per device, in the current process group."""

from torch import Tensor

from lab.parallel.replicas import forward_backward, overlapping
from lab.training.model import BatchStep, Model


def ddp_step(model: Model) -> BatchStep:
    """Return the step; it scales gradients up, since DDP averages over processes, the book sums."""
    [net], [device], [update] = model.nets, model.devices, model.updates
    parallel = overlapping(net, device)

    def step(X: Tensor, y: Tensor, lr: float, batch_size: int) -> Tensor:
        loss = forward_backward(parallel, X, y, model.processes.world_size, model.loss)
        update(net.parameters(), lr, batch_size)
        return loss

    return step
