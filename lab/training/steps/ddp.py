"""`ddp`: DistributedDataParallel, a process for each device, in the process group that there is."""

from torch import Tensor

from lab.parallel.replicas import forward_backward, overlapping
from lab.training.model import BatchStep, Model


def ddp_step(model: Model) -> BatchStep:
    """The step with the gradient scaled up: DDP averages over processes, the book sums."""
    [net], [device], [update] = model.nets, model.devices, model.updates
    parallel = overlapping(net, device)

    def step(X: Tensor, y: Tensor, lr: float, batch_size: int) -> Tensor:
        loss = forward_backward(parallel, X, y, model.processes.world_size, model.loss)
        update(net.parameters(), lr, batch_size)
        return loss

    return step
