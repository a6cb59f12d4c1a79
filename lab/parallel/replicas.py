"""Data parallelism by hand: copy the net, split the batch, sum the gradients (book section 13.5).

Everything works on any list of devices, a repeated CPU included, so many-device code can be proved
without GPUs.
"""

import copy
import warnings
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.distributed import ProcessGroup
from torch.nn.parallel import DistributedDataParallel

from lab.parallel.workers import parallel_map

M = TypeVar("M", bound=nn.Module)
Collective = Callable[[list[Tensor]], None]  # allreduce, or the notes' broken one
Loss = Callable[[Tensor, Tensor], Tensor]  # of logits (n, k) and labels (n,): their losses' sum
Combine = Callable[[], None]  # makes of the replicas' gradients what they use
Update = Callable[[Iterable[Tensor], float, int], None]  # of parameters, at a rate, by a batch


def replicate(net: M, device: torch.device) -> M:
    """A replica of `net` on `device` (the book's `get_params`).

    It always copies: `.to(device)` of a net that is there already would return the same tensors,
    and two replicas would then share them.
    """
    return copy.deepcopy(net).to(device)


def allreduce(data: Sequence[Tensor]) -> None:
    """Replace each of `data`, tensors of one shape on any devices, by the sum of all, in place.

    The sum is taken in list order. Rebinding `data[i] = ...` instead would change the list and
    leave the gradients as they were.
    """
    for other in data[1:]:
        data[0].add_(other.to(data[0].device))
    for other in data[1:]:
        other.copy_(data[0])


def split_batch(
    X: Tensor, y: Tensor, devices: Sequence[torch.device]
) -> tuple[list[Tensor], list[Tensor]]:
    """Split X (n, ...) and y (n,) over the devices.

    The shards are as even as can be; the first ones are the larger.

    Raises:
        ValueError: X and y differ in length.
    """
    if len(X) != len(y):
        raise ValueError(f"expected as many labels as examples, got {len(X)} and {len(y)}")

    def scatter(data: Tensor) -> list[Tensor]:
        return [
            shard.to(device)
            for shard, device in zip(data.tensor_split(len(devices)), devices, strict=True)
        ]

    return scatter(X), scatter(y)


def sgd(params: Iterable[Tensor], lr: float, batch_size: int) -> None:
    """Update `params` in place by a step of minibatch SGD on summed gradients, and drop these."""
    listed = list(params)
    with torch.no_grad():  # all at once: on a GPU one launch, to the same bits
        torch._foreach_sub_(listed, [grad_of(param) for param in listed], alpha=lr / batch_size)
    for param in listed:
        param.grad = None


def grad_of(param: Tensor) -> Tensor:
    """The gradient of a parameter that took part in the loss."""
    assert param.grad is not None, "every parameter takes part in the loss"  # noqa: S101
    return param.grad


def cross_entropy(logits: Tensor, y: Tensor, label_smoothing: float = 0) -> Tensor:
    """The cross entropy, summed over the batch; with `label_smoothing` (Szegedy et al. 2016)."""
    return F.cross_entropy(logits, y, reduction="sum", label_smoothing=label_smoothing)


def forward_backward(
    net: nn.Module, X: Tensor, y: Tensor, scale: float = 1, loss: Loss = cross_entropy
) -> Tensor:
    """Add `scale` times the gradient of the summed loss to each parameter's; return the loss."""
    summed = loss(net(X), y)
    torch.autograd.backward(summed, torch.full_like(summed, scale))
    return summed.detach()


def overlapping(
    net: nn.Module,
    device: torch.device,
    bucket_mib: float | None = None,
    group: ProcessGroup | None = None,
) -> DistributedDataParallel:
    """The net, its gradients summed in a group while others are computed, and averaged.

    Running statistics do not enter training: each process keeps its own, as replicas do. Gradients
    become parts of their buckets, of at most `bucket_mib` (torch's own size otherwise), until an
    update drops them: nothing is copied back.
    """
    # `broadcast_buffers` has a new name since torch 2.13
    with warnings.catch_warnings(action="ignore", category=FutureWarning):
        return DistributedDataParallel(
            net,
            [device] if device.type == "cuda" else None,
            broadcast_buffers=False,
            process_group=group,
            bucket_cap_mb=bucket_mib,
            gradient_as_bucket_view=True,
        )


def sum_gradients(nets: Sequence[nn.Module], allreduce: Collective = allreduce) -> None:
    """Give every replica the sum of all replicas' gradients, one parameter after the other."""
    for same in zip(*(net.parameters() for net in nets), strict=True):
        allreduce([grad_of(p) for p in same])


def train_batch(
    X: Tensor,
    y: Tensor,
    nets: Sequence[nn.Module],
    devices: Sequence[torch.device],
    lr: float,
    pool: Executor,
    combine: Combine | None = None,
    updates: Sequence[Update] | None = None,
    loss: Loss = cross_entropy,
) -> list[Tensor]:
    """Take one step of SGD on a batch over all devices; return each device's summed loss (scalars).

    `combine` stands for `sum_gradients`, `updates`, one for each replica, for plain SGD's.

    Each replica runs forward and backward on its shard in a thread of its own: on GPUs the threads
    only enqueue, on virtual devices they compute side by side. The losses are summed, not averaged,
    and the rate is divided by the size of the whole batch, so that uneven shards give exactly the
    gradient of one device. Batch norm uses the statistics of each shard, as in the notes.
    """
    gradients = partial(forward_backward, loss=loss)
    losses = parallel_map(pool, gradients, nets, *split_batch(X, y, devices))
    (combine or partial(sum_gradients, nets))()
    for net, update in zip(nets, updates or [sgd] * len(nets), strict=True):
        update(net.parameters(), lr, len(X))
    return losses


def rebinding_allreduce(data: list[Tensor]) -> None:
    """Change the list, and of the tensors only the first: one note's way; its cell prints 3, 3."""
    for other in data[1:]:
        data[0].add_(other.to(data[0].device))
    for i in range(1, len(data)):
        data[i] = data[0].to(data[i].device)
