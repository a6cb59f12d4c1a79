"""Data parallelism by hand: copy the parameters, split the batch, sum the gradients (book section 13.5).

Everything works on any list of devices, a repeated CPU included, so many-device code can be proved without GPUs.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor

import torch
import torch.nn.functional as F
from torch import Tensor

Net = Callable[[Tensor, list[Tensor]], Tensor]


def get_params(params: Sequence[Tensor], device: torch.device) -> list[Tensor]:
    """Return a replica of `params` on `device` that wants gradients.

    It always copies: `.to(device)` of a tensor that is there already would return the same tensor, and two
    replicas would then share it.
    """
    return [p.detach().to(device, copy=True).requires_grad_() for p in params]


def allreduce(data: Sequence[Tensor]) -> None:
    """Replace each of `data`, tensors of one shape on any devices, by the sum of all; in place, in list order.

    Rebinding `data[i] = ...` instead would change the list and leave the gradients as they were.
    """
    for other in data[1:]:
        data[0].add_(other.to(data[0].device))
    for other in data[1:]:
        other.copy_(data[0])


def split_batch(X: Tensor, y: Tensor, devices: Sequence[torch.device]) -> tuple[list[Tensor], list[Tensor]]:
    """Split X (n, ...) and y (n,) over the devices; where n does not divide, the first ones get one more.

    Raises:
        ValueError: X and y differ in length.
    """
    if len(X) != len(y):
        raise ValueError(f"expected as many labels as examples, got {len(X)} and {len(y)}")

    def scatter(data: Tensor) -> list[Tensor]:
        return [shard.to(device) for shard, device in zip(data.tensor_split(len(devices)), devices, strict=True)]

    return scatter(X), scatter(y)


def sgd(params: Sequence[Tensor], lr: float, batch_size: int) -> None:
    """Update `params` in place by one step of minibatch SGD on summed gradients, and forget the gradients."""
    with torch.no_grad():
        for param in params:
            param.sub_(_grad(param), alpha=lr / batch_size)
            param.grad = None


def _grad(param: Tensor) -> Tensor:
    assert param.grad is not None, "every parameter takes part in the loss"  # noqa: S101
    return param.grad


def train_batch(
    X: Tensor,
    y: Tensor,
    net: Net,
    device_params: Sequence[list[Tensor]],
    devices: Sequence[torch.device],
    lr: float,
    pool: Executor,
) -> list[Tensor]:
    """Take one step of SGD on a batch over all devices, and return each device's summed loss (scalars).

    Each replica runs forward and backward on its shard in a thread of `pool`: on GPUs the threads only enqueue,
    on virtual devices they compute side by side. The losses are summed, not averaged, and the rate is divided by
    the size of the whole batch, so that uneven shards give exactly the gradient of one device.
    """

    def forward_backward(X: Tensor, y: Tensor, params: list[Tensor]) -> Tensor:
        loss = F.cross_entropy(net(X, params), y, reduction="sum")
        loss.backward()
        return loss.detach()

    losses = list(pool.map(forward_backward, *split_batch(X, y, devices), device_params))
    for replicas in zip(*device_params, strict=True):
        allreduce([_grad(p) for p in replicas])
    for params in device_params:
        sgd(params, lr, len(X))
    return losses
