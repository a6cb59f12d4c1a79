"""Steps with the same bits on 1, 2, 4 or 8 devices: batches in a fixed number of shards.

Each device takes its shards sequentially. Their shapes and the number of threads do not depend on
the number of devices, and sums go up the tree of `lab.training.shards`. Batch norm uses each
shard's statistics. Running statistics are updated once per step, by the mean over its shards.
"""

from collections.abc import Callable, Sequence
from functools import partial

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from lab.nets.models import UInt8Input
from lab.parallel.collectives import Ranks, halving_doubling
from lab.parallel.flat_bucket import bucket_of, views_of
from lab.parallel.replicas import Loss, Update
from lab.parallel.workers import parallel_map
from lab.training.model import BatchStep, Model
from lab.training.processes import Alone
from lab.training.run_params import RunParams
from lab.training.shards import blocks, tree_sum


def sharded_model(
    net: nn.Module,
    devices: Sequence[torch.device],
    recipe: RunParams,
    processes: Alone,
    num_shards: int,
) -> Model:
    """Return the net on `devices`; a virtual device has several replicas, one thread each.

    Set this process's torch threads to one, since sums within operations depend on their number.

    Raises:
        ValueError: buffers are not batch norm's.
    """
    per_device = num_shards // (processes.world_size * len(devices))
    threads = 1 if devices[0].type == "cuda" else min(torch.get_num_threads(), per_device)
    replicas = 1 << (threads.bit_length() - 1)
    torch.set_num_threads(1)
    if len(_norms(net)) * 3 != len(list(net.buffers())):
        raise ValueError("expected no buffers but batch norm's running statistics")
    every = [device for device in devices for _ in range(replicas)]
    return Model(net, every, recipe, processes, per_device // replicas)


def sharded_step(model: Model) -> BatchStep:
    """Return the step of replicas by hand, with sums in the order of the shards' tree.

    Its loss is the whole batch's in the first process, and 0 in others.
    """
    over_processes = _sum_over_ranks(model) if model.processes.world_size > 1 else None

    def step(X: Tensor, y: Tensor, lr: float, batch_size: int) -> Tensor:
        num_devices = len(model.devices)
        here = num_devices * model.shards_per_device
        shares = (blocks(data, here, num_devices) for data in (X, y))
        before = [[s.clone() for s in _running(net)] for net in model.nets]
        of_block = partial(_sum_of_block, model)
        sums = tree_sum(parallel_map(model.pool, of_block, model.nets, model.devices, *shares))
        if over_processes:
            sums = over_processes(sums)
        update = partial(_update, model, sums, lr, batch_size)
        parallel_map(model.pool, update, model.nets, model.updates, before)
        return torch.zeros_like(sums[0]) if model.processes.rank else sums[0]

    return step


def _sum_of_block(
    model: Model, net: UInt8Input, device: torch.device, X: Tensor, y: Tensor
) -> list[Tensor]:
    """Return loss, gradients and changes of running statistics, summed over a device's shards."""
    X, y = X.to(device), y.to(device)
    parts = model.shards_per_device
    shards = zip(X.tensor_split(parts), y.tensor_split(parts), strict=True)
    return tree_sum(_of_shard(net, model.loss, *shard) for shard in shards)


def _of_shard(net: UInt8Input, loss: Loss, X: Tensor, y: Tensor) -> list[Tensor]:
    running = _running(net)
    for statistic in running:
        statistic.zero_()  # so that only batch norm's change is left
    summed = loss(net(X), y)
    gradients = torch.autograd.grad(summed, list(net.parameters()))
    return [summed.detach(), *gradients, *(statistic.clone() for statistic in running)]


def _sum_over_ranks(model: Model) -> Callable[[list[Tensor]], list[Tensor]]:
    """Return the sum over processes, further up the tree; each call overwrites the last result."""
    [first, *_] = model.nets
    summed = [torch.zeros(()), *first.parameters(), *_running(first)]
    by_nccl = "cuda:nccl" in dist.get_backend_config()  # gloo cannot send a GPU's tensors
    device = model.devices[0] if by_nccl else torch.device("cpu")
    bucket = bucket_of([tensor.to(device) for tensor in summed])
    of_bucket = views_of(bucket, summed)
    assert dist.group.WORLD is not None  # noqa: S101
    ranks = Ranks(dist.group.WORLD)

    def over_processes(sums: list[Tensor]) -> list[Tensor]:
        torch._foreach_copy_(of_bucket, sums)
        halving_doubling(bucket, ranks)
        loss, *others = of_bucket
        return [loss.clone(), *others]

    return over_processes


def _update(
    model: Model,
    sums: Sequence[Tensor],
    lr: float,
    batch_size: int,
    net: UInt8Input,
    update: Update,
    before: Sequence[Tensor],
) -> None:
    """Update a replica from the sums over all shards; `before`: its old running statistics."""
    params, norms = list(net.parameters()), _norms(net)
    gradients, added = sums[1 : 1 + len(params)], sums[1 + len(params) :]
    for p, gradient in zip(params, gradients, strict=True):
        p.grad = gradient.to(p.device)
    update(params, lr, batch_size)
    kept = [1 - _momentum(norm) for norm in norms for _ in range(2)]
    for now, keep, old, total in zip(_running(net), kept, before, added, strict=True):
        now.copy_(keep * old + total.to(now.device) / model.num_shards)
    for norm in norms:
        assert norm.num_batches_tracked is not None  # noqa: S101
        norm.num_batches_tracked.add_(1 - model.shards_per_device)  # count a batch, not its shards


def _norms(net: nn.Module) -> list[_BatchNorm]:
    return [module for module in net.modules() if isinstance(module, _BatchNorm)]


def _running(net: nn.Module) -> list[Tensor]:
    """Return the running means and variances of a net's batch norms."""
    return [buffer for buffer in net.buffers() if buffer.is_floating_point()]


def _momentum(norm: _BatchNorm) -> float:
    assert norm.momentum is not None  # noqa: S101
    return norm.momentum
