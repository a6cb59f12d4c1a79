"""The kinds of parallelism by torch's own libraries, each device a process of its own.

`fully_shard` is data parallelism whose parameters are shared out, too (FSDP2; Zhao et al. 2023,
after ZeRO, Rajbhandari et al. 2020). `parallelize_module` gives each process columns of a layer and
rows of the next one, so that only every second layer needs a sum (Shoeybi et al. 2019). The
pipeline is GPipe's, as by hand.
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from itertools import chain

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe
from torch.distributed.tensor import DTensor
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    ParallelStyle,
    RowwiseParallel,
    parallelize_module,
)

from lab.parallel.replicas import forward_backward, grad_of
from stages.parallelism.measure.layers import Layered
from stages.parallelism.measure.pipeline import cut

# of libraries that a net of plain layers does not concern
warnings.filterwarnings("ignore", "FSDP2-wrapped module .* returned a view tensor")


class OnRank(ABC):
    """This process's part of a net of dense layers; all processes of the group take each step."""

    net: nn.Module

    @abstractmethod
    def take_gradient(self, X: Tensor, y: Tensor) -> None:
        """Leave the gradient of the whole batch's summed loss, on the processes together."""

    def step(self, X: Tensor, y: Tensor, lr: float) -> None:
        """Take a step of SGD."""
        self.take_gradient(X, y)
        params = list(self.net.parameters())
        gradients = [_local(grad_of(p)) for p in params]
        with torch.no_grad():
            torch._foreach_sub_([_local(p) for p in params], gradients, alpha=lr / len(X))
        self.net.zero_grad(set_to_none=True)

    def gradients(self) -> list[Tensor]:
        """The whole net's gradients: weights (inputs, outputs) and biases, in their order."""
        return [
            whole.T if whole.ndim == 2 else whole
            for whole in (_whole(grad_of(p)) for p in self.net.parameters())
        ]

    def state_bytes(self) -> int:
        """Bytes of parameters and gradients between two steps."""
        return sum(2 * _local(p).nbytes for p in self.net.parameters())


OfTorch = Callable[[Layered, torch.device], OnRank]


class FullySharded(OnRank):
    """A share of each tensor; a layer is put together whenever it computes."""

    def __init__(self, net: Layered, device: torch.device) -> None:
        """Share each layer out on its own."""
        self.net = nn.Sequential(*chain.from_iterable(_modules(net, device)))
        mesh = init_device_mesh(device.type, (dist.get_world_size(),))
        for module in self.net:
            if isinstance(module, nn.Linear):
                fully_shard(module, mesh=mesh)
        fully_shard(self.net, mesh=mesh)

    def take_gradient(self, X: Tensor, y: Tensor) -> None:
        """On this process's share of the batch; the library divides the sum by the processes."""
        n, rank = dist.get_world_size(), dist.get_rank()
        forward_backward(self.net, X.tensor_split(n)[rank], y.tensor_split(n)[rank], scale=n)


class InColumnsAndRows(OnRank):
    """Columns of a layer's weights, and rows of the next one's."""

    def __init__(self, net: Layered, device: torch.device) -> None:
        """Give this process its columns and rows."""
        self.net = nn.Sequential(*chain.from_iterable(_modules(net, device)))
        mesh = init_device_mesh(device.type, (dist.get_world_size(),))
        dense = [
            name for name, module in self.net.named_children() if isinstance(module, nn.Linear)
        ]
        plan: dict[str, ParallelStyle] = {
            name: RowwiseParallel() if i % 2 else ColwiseParallel() for i, name in enumerate(dense)
        }
        parallelize_module(self.net, mesh, plan)

    def take_gradient(self, X: Tensor, y: Tensor) -> None:
        """Of the whole batch, which every process has."""
        forward_backward(self.net, X, y)


class InMicroBatches(OnRank):
    """Some of the layers, through which a batch goes in parts."""

    def __init__(self, net: Layered, device: torch.device, num_micro_batches: int) -> None:
        """Give this process its layers."""
        n, rank = dist.get_world_size(), dist.get_rank()
        layers = _modules(net, device)
        self._parts = cut(len(layers), n)
        self.net = nn.Sequential(*chain.from_iterable(layers[i] for i in self._parts[rank]))
        self._whole, self._device = net, device
        self._schedule = ScheduleGPipe(
            PipelineStage(self.net, rank, n, device),
            num_micro_batches,
            loss_fn=_summed_loss,
            scale_grads=False,
        )

    def take_gradient(self, X: Tensor, y: Tensor) -> None:
        """The first process has the images, the last one the labels."""
        rank, last = dist.get_rank(), dist.get_world_size() - 1
        inputs = [X] if rank == 0 else []
        if rank == last:
            self._schedule.step(*inputs, target=y, losses=[])
        else:
            self._schedule.step(*inputs)

    def gradients(self) -> list[Tensor]:
        """Each process's layers, told to all."""
        own, found = iter(super().gradients()), []
        for rank, part in enumerate(self._parts):
            for p in chain.from_iterable(self._whole.params[layer] for layer in part):
                mine = rank == dist.get_rank()
                gradient = next(own).contiguous() if mine else torch.empty_like(p)
                dist.broadcast(gradient, src=rank)
                found.append(gradient)
        return found


def _modules(net: Layered, device: torch.device) -> list[list[nn.Module]]:
    """Torch's own modules of each of a net's dense layers, with copies of its parameters."""
    layers: list[list[nn.Module]] = []
    for i, (W, b) in enumerate(net.params):
        linear = nn.Linear(W.shape[0], W.shape[1], device=device, dtype=W.dtype)
        with torch.no_grad():
            linear.weight.copy_(W.T)
            linear.bias.copy_(b)
        is_last = i + 1 == len(net.params)
        layers.append([*([] if i else [nn.Flatten()]), linear, *([] if is_last else [nn.ReLU()])])
    return layers


def _summed_loss(logits: Tensor, y: Tensor) -> Tensor:
    return F.cross_entropy(logits, y, reduction="sum")


def _local(X: Tensor) -> Tensor:
    return X.to_local() if isinstance(X, DTensor) else X


def _whole(X: Tensor) -> Tensor:
    return X.full_tensor() if isinstance(X, DTensor) else X
