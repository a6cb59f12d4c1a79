"""Data parallelism (book 13.5): each device has the whole net and a share of the batch."""

from torch import Tensor, nn

from lab.parallel.replicas import allreduce, forward_backward, grad_of, replicate, split_batch
from stages.parallelism.byte_counter import ByteCounter
from stages.parallelism.step import Devices, Step


def data_parallel(net: nn.Module, X: Tensor, y: Tensor, devices: Devices) -> Step:
    """Take the gradient of a share of the batch on each replica, then their sum."""
    counter, nets = ByteCounter(devices), [replicate(net, device) for device in devices]
    losses = []
    for i, (replica, X_shard, y_shard) in enumerate(
        zip(nets, *split_batch(X, y, devices), strict=True)
    ):
        with counter.keeping(i, replica.parameters()):
            losses.append(forward_backward(replica, X_shard, y_shard))
    params = [list(replica.parameters()) for replica in nets]
    for same in zip(*params, strict=True):
        gradients = [grad_of(p) for p in same]
        with counter.exchange(gradients):
            allreduce(gradients)
    return Step(
        sum(loss.item() for loss in losses),
        [grad_of(p) for p in params[0]],
        counter.moved,
        counter.memory(params),
    )
