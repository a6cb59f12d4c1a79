"""Steps of the same bits on 1, 2, 4 or 8 devices: batches in a fixed number of shards.

Each device takes its shards one after the other, in shapes and with a number of threads that do not
depend on the number of devices, and sums go up the tree of `lab.training.shards`. Batch norm uses
each shard's statistics; running statistics move once in a step, to the mean over its shards.
"""

from collections.abc import Sequence
from functools import partial

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from lab.nets.models import UInt8Input
from lab.parallel.allreduce.collectives import Ranks, halving_doubling
from lab.parallel.flat_bucket import bucket_of, views_of
from lab.parallel.replicas import Update
from lab.parallel.workers import parallel_map
from lab.training.run_params import NOTES, RunParams
from lab.training.shards import blocks, tree_sum
from lab.training.strategies.base import State, Strategy
from lab.training.strategies.processes import Processes


class Sharded(Strategy):
    """Replicas by hand, whose sums are those of the shards' tree."""

    def __init__(
        self, net: nn.Module, devices: Sequence[torch.device], recipe: RunParams = NOTES
    ) -> None:
        """Copy the net to `devices`, of which a virtual one has a replica for each of its threads.

        Those compute with one thread each from here on, as sums inside of operations depend on how
        many share the work.

        Raises:
            ValueError: the shards are not a power of two for each device, or buffers are not batch
                norm's.
        """
        num_shards = 0 if recipe.shards == "none" else recipe.shards
        per_device, odd = divmod(num_shards, self.num_processes * len(devices))
        if odd or per_device.bit_count() != 1:
            raise ValueError(f"expected a power of two of shards for each device, got {num_shards}")
        threads = 1 if devices[0].type == "cuda" else min(torch.get_num_threads(), per_device)
        replicas = 1 << (threads.bit_length() - 1)
        torch.set_num_threads(1)
        super().__init__(net, [device for device in devices for _ in range(replicas)], recipe)
        self.shards_per_device = per_device // replicas
        if any(len(_norms(net)) * 3 != len(list(net.buffers())) for net in self.nets):
            raise ValueError("expected no buffers but batch norm's running statistics")

    def step(self, X: Tensor, y: Tensor, lr: float, batch_size: int) -> Tensor:
        """Take a step; the loss is the whole batch's in the first process, and 0 in others."""
        here, num_devices = self.num_shards // self.num_processes, len(self.devices)
        shares = (blocks(data, here, num_devices) for data in (X, y))
        before = [[s.clone() for s in _running(net)] for net in self.nets]
        sums = tree_sum(
            parallel_map(self.pool, self._sum_of_block, self.nets, self.devices, *shares)
        )
        sums = self._over_processes(sums)
        update = partial(self._update, lr=lr, batch_size=batch_size, sums=sums)
        parallel_map(self.pool, update, self.nets, self.updates, before)
        return sums[0] if self.is_first else torch.zeros_like(sums[0])

    def _sum_of_block(
        self, net: UInt8Input, device: torch.device, X: Tensor, y: Tensor
    ) -> list[Tensor]:
        """The loss, gradients and changes of running statistics, summed over a device's shards."""
        X, y = X.to(device), y.to(device)
        shards = zip(
            X.tensor_split(self.shards_per_device),
            y.tensor_split(self.shards_per_device),
            strict=True,
        )
        return tree_sum(self._of_shard(net, *shard) for shard in shards)

    def _of_shard(self, net: UInt8Input, X: Tensor, y: Tensor) -> list[Tensor]:
        running = _running(net)
        for statistic in running:
            statistic.zero_()  # so that what batch norm adds is left
        smoothing = self.recipe.label_smoothing
        loss = F.cross_entropy(net(X), y, reduction="sum", label_smoothing=smoothing)
        gradients = torch.autograd.grad(loss, list(net.parameters()))
        return [loss.detach(), *gradients, *(statistic.clone() for statistic in running)]

    def _over_processes(self, sums: list[Tensor]) -> list[Tensor]:
        """The sums over all processes."""
        return sums

    def _update(
        self,
        net: UInt8Input,
        update: Update,
        before: Sequence[Tensor],
        lr: float,
        batch_size: int,
        sums: Sequence[Tensor],
    ) -> None:
        """Update a replica on the sums over all shards; `before`: its running statistics."""
        params, norms = list(net.parameters()), _norms(net)
        gradients, added = sums[1 : 1 + len(params)], sums[1 + len(params) :]
        for p, gradient in zip(params, gradients, strict=True):
            p.grad = gradient.to(p.device)
        update(params, lr, batch_size)
        kept = [1 - _momentum(norm) for norm in norms for _ in range(2)]
        for now, keep, old, total in zip(_running(net), kept, before, added, strict=True):
            now.copy_(keep * old + total.to(now.device) / self.num_shards)
        for norm in norms:
            assert norm.num_batches_tracked is not None  # noqa: S101
            norm.num_batches_tracked.add_(1 - self.shards_per_device)  # a batch, not its shards

    def state(self) -> State:
        """Copies of the weights, and of the running statistics, which all replicas share."""
        state = super().state()
        return {**state, "buffers": state["buffers"][:1]}

    def load_state(self, state: State) -> None:
        """Take over what `state` returned on any number of devices."""
        super().load_state({**state, "buffers": state["buffers"] * len(self.nets)})


class ShardedProcesses(Sharded, Processes):
    """The same in several processes, whose sums go on up the tree from one to another."""

    def __init__(
        self, net: nn.Module, devices: Sequence[torch.device], recipe: RunParams = NOTES
    ) -> None:
        """Copy the net to the one device of `devices`, and lay out a bucket for its sums."""
        super().__init__(net, devices, recipe)
        [first, *_] = self.nets
        summed = [torch.zeros(()), *first.parameters(), *_running(first)]
        by_nccl = "cuda:nccl" in dist.get_backend_config()  # which gloo's messages do not reach
        device = self.devices[0] if by_nccl else torch.device("cpu")
        self._bucket = bucket_of([tensor.to(device) for tensor in summed])
        self._sums = views_of(self._bucket, summed)
        assert dist.group.WORLD is not None  # noqa: S101
        self._group = dist.group.WORLD

    def _over_processes(self, sums: list[Tensor]) -> list[Tensor]:
        """The sums over all processes, which the next ones overwrite."""
        torch._foreach_copy_(self._sums, sums)
        halving_doubling(self._bucket, Ranks(self._group))
        loss, *others = self._sums
        return [loss.clone(), *others]


def _norms(net: nn.Module) -> list[_BatchNorm]:
    return [module for module in net.modules() if isinstance(module, _BatchNorm)]


def _running(net: nn.Module) -> list[Tensor]:
    """The running means and variances of a net's batch norms."""
    return [buffer for buffer in net.buffers() if buffer.is_floating_point()]


def _momentum(norm: _BatchNorm) -> float:
    assert norm.momentum is not None  # noqa: S101
    return norm.momentum
