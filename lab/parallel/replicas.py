"""Data parallelism by hand: copy the net, split the batch, sum the gradients (book section 13.5).

Everything works on any list of devices, including a repeated CPU, so many-device code can be tested
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
Loss = Callable[[Tensor, Tensor], Tensor]  # summed loss of logits (n, k) and labels (n,)
Combine = Callable[[], None]  # combines the replicas' gradients in place
Update = Callable[[Iterable[Tensor], float, int], None]  # of parameters, by lr and batch size


def replicate(net: M, device: torch.device) -> M:
    """Return a replica of `net` on `device` (the book's `get_params`).

    It is always a copy: if `net` is on the device already, `.to(device)` returns the same tensors,
    and two replicas would share them.
    """
    return copy.deepcopy(net).to(device)


def allreduce(data: Sequence[Tensor]) -> None:
    """Replace each of `data`, tensors of one shape on any devices, by the sum of all, in place.

    Sum in list order. Rebinding `data[i] = ...` instead would change only the list, not the
    gradients.
    """
    for other in data[1:]:
        data[0].add_(other.to(data[0].device))
    for other in data[1:]:
        other.copy_(data[0])


def split_batch(
    X: Tensor, y: Tensor, devices: Sequence[torch.device]
) -> tuple[list[Tensor], list[Tensor]]:
    """Split X (n, ...) and y (n,) over the devices.

    The shards are as even as possible; the first ones are the larger ones.

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
    """Update `params` in place by minibatch SGD on summed gradients, and drop the gradients."""
    listed = list(params)
    with torch.no_grad():  # all in one call: one launch on a GPU, and the same bits
        torch._foreach_sub_(listed, [grad_of(param) for param in listed], alpha=lr / batch_size)
    for param in listed:
        param.grad = None


def grad_of(param: Tensor) -> Tensor:
    assert param.grad is not None, "every parameter takes part in the loss"  # noqa: S101
    return param.grad


def cross_entropy(logits: Tensor, y: Tensor, label_smoothing: float = 0) -> Tensor:
    """Return the cross entropy summed over the batch, with smoothing (Szegedy et al. 2016)."""
    return F.cross_entropy(logits, y, reduction="sum", label_smoothing=label_smoothing)


def forward_backward(
    net: nn.Module, X: Tensor, y: Tensor, scale: float = 1, loss: Loss = cross_entropy
) -> Tensor:
    """Add `scale` times the summed loss's gradient to each parameter's; return the loss."""
    summed = loss(net(X), y)
    torch.autograd.backward(summed, torch.full_like(summed, scale))
    return summed.detach()


def overlapping(
    net: nn.Module,
    device: torch.device,
    bucket_mib: float | None = None,
    group: ProcessGroup | None = None,
) -> DistributedDataParallel:
    """Return a net that averages its gradients over a group while it computes others.

    Running statistics do not affect training: each process keeps its own, as replicas do. Gradients
    become views of buckets of at most `bucket_mib` (by default torch's size) until an update drops
    them, so nothing is copied back.
    """
    # torch 2.13 renamed `broadcast_buffers`
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
    """Give every replica the sum of all replicas' gradients, one parameter at a time."""
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

    `combine` replaces `sum_gradients`; `updates`, one per replica, replace plain SGD.

    Each replica runs forward and backward on its shard in its own thread: on GPUs the threads only
    enqueue work, on virtual devices they compute concurrently. Losses are summed, not averaged, and
    the rate is divided by the size of the whole batch, so uneven shards give exactly the gradient
    of one device. Batch norm uses the statistics of each shard, as in the notes.
    """
    gradients = partial(forward_backward, loss=loss)
    losses = parallel_map(pool, gradients, nets, *split_batch(X, y, devices))
    (combine or partial(sum_gradients, nets))()
    for net, update in zip(nets, updates or [sgd] * len(nets), strict=True):
        update(net.parameters(), lr, len(X))
    return losses


def rebinding_allreduce(data: list[Tensor]) -> None:
    """Rebind list entries, update only the first tensor: one note's bug; its cell prints 3, 3."""
    for other in data[1:]:
        data[0].add_(other.to(data[0].device))
    for i in range(1, len(data)):
        data[i] = data[0].to(data[i].device)
