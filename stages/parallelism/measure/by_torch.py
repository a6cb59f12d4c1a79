"""The kinds of parallelism by torch's own libraries, each device a process of its own.

`fully_shard` is data parallelism whose parameters are shared out, too (FSDP2; Zhao et al. 2023,
after ZeRO, Rajbhandari et al. 2020). `parallelize_module` gives each process columns of a layer and
rows of the next one, so that only every second layer needs a sum (Shoeybi et al. 2019). The
pipeline is GPipe's, as by hand.
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import Any

import torch
import torch.distributed as dist
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
from torch.utils._python_dispatch import TorchDispatchMode

from lab.parallel.process_group import all_reduce_max
from lab.parallel.replicas import cross_entropy, forward_backward, grad_of
from lab.results.measurements import Cell, Measurement
from stages.parallelism.measure.by_hand import DataParallel, Layered, cut
from stages.parallelism.measure.costs import counted, counted_step, dense_net, roundings
from stages.parallelism.measure.params import (
    DENSE,
    FULLY_SHARD,
    PARALLELIZE,
    PIPELINING,
    ParallelismParams,
)

LR = 1e-3

# of libraries that a net of plain layers does not concern
warnings.filterwarnings("ignore", "FSDP2-wrapped module .* returned a view tensor")


class OnRank(ABC):
    """This process's part of a net of dense layers; all processes of the group take each step."""

    net: nn.Module

    @abstractmethod
    def take_gradient(self, X: Tensor, y: Tensor) -> None:
        """Leave the gradient of the whole batch's summed loss, on the processes together."""

    def step(self, X: Tensor, y: Tensor, lr: float) -> None:
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


Library = Callable[[Layered, torch.device], OnRank]


def libraries(num_micro_batches: int) -> dict[str, Library]:
    return {
        FULLY_SHARD: FullySharded,
        PARALLELIZE: InColumnsAndRows,
        PIPELINING: partial(InMicroBatches, num_micro_batches=num_micro_batches),
    }


class FullySharded(OnRank):
    """A share of each tensor; a layer is put together whenever it computes."""

    def __init__(self, net: Layered, device: torch.device) -> None:
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
        n, rank = dist.get_world_size(), dist.get_rank()
        layers = _modules(net, device)
        self._parts = cut(len(layers), n)
        self.net = nn.Sequential(*chain.from_iterable(layers[i] for i in self._parts[rank]))
        self._whole = net
        self._schedule = ScheduleGPipe(
            PipelineStage(self.net, rank, n, device),
            num_micro_batches,
            loss_fn=cross_entropy,
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


def _local(X: Tensor) -> Tensor:
    return X.to_local() if isinstance(X, DTensor) else X


def _whole(X: Tensor) -> Tensor:
    return X.full_tensor() if isinstance(X, DTensor) else X


# --- what a step sends and holds


def measure_by_torch(
    device: torch.device, device_kind: str, p: ParallelismParams, seed: int
) -> list[Measurement]:
    """MB that all ranks send in a step, and MB of state, as one of the ranks."""
    n, sizes, found = dist.get_world_size(), p.batch_sizes, []
    net, X, y = dense_net(p, seed)
    X, y = X.to(device), y.to(device)
    exact = net._replace(params=[(W.double(), b.double()) for W, b in net.params])
    few = X[: sizes[0]].double(), y[: sizes[0]]
    reference = counted_step(DataParallel, exact, *few, [device]).gradients
    about: dict[str, Cell] = {"net": DENSE, "devices": n}
    for variant, library in libraries(p.num_micro_batches).items():
        one = partial(counted, variant=variant, device_kind=device_kind, columns=about)
        for size in sizes:
            placed = library(net, device)
            placed.step(X[:size], y[:size], LR)  # the first one may say more than the others
            with ReceivedBytes(n) as counter:
                placed.take_gradient(X[:size], y[:size])
            received = torch.tensor(counter.received, dtype=torch.float64)
            dist.all_reduce(received)
            found.append(one("sent", x=size, value=received.item() / 1e6, unit="MB"))
        [state] = all_reduce_max([placed.state_bytes() / 1e6])
        placed = library(exact, device)
        placed.take_gradient(*few)
        apart = roundings(placed.gradients(), reference)
        found += [
            one("state", x=0, value=state, unit="MB"),
            one("gradient", x=sizes[0], value=apart, unit="eps"),
        ]
    return found


# --- bytes, read off torch's own operations

# of an operation's arguments and the number of processes: bytes that one of them receives, if each
# receives no more than it must (book 13.7.2; Patarasuk and Yuan 2009)
RECEIVED: dict[str, Callable[[Any, int], float]] = {
    "c10d::_allgather_base_": lambda args, n: args[0].nbytes * (n - 1) / n,
    "c10d::_reduce_scatter_base_": lambda args, n: args[1].nbytes * (n - 1) / n,
    "c10d::allreduce_": lambda args, n: _bytes(args[0]) * 2 * (n - 1) / n,
    "_c10d_functional::all_gather_into_tensor": lambda args, n: args[0].nbytes * (n - 1),
    "_c10d_functional::reduce_scatter_tensor": lambda args, n: args[0].nbytes * (n - 1) / n,
    "_c10d_functional::all_reduce": lambda args, n: args[0].nbytes * 2 * (n - 1) / n,
    "_c10d_functional::all_reduce_": lambda args, n: args[0].nbytes * 2 * (n - 1) / n,
    "c10d::recv_": lambda args, n: _bytes(args[0]),
    "c10d::send": lambda args, n: 0,
    "_c10d_functional::wait_tensor": lambda args, n: 0,
    "_c10d_functional::_wrap_tensor_autograd": lambda args, n: 0,
}


class ReceivedBytes(TorchDispatchMode):
    """Counts the bytes that this process receives by collectives and messages: `received`."""

    def __init__(self, world_size: int) -> None:
        super().__init__()
        self.received = 0.0
        self._world_size = world_size

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run an operation and count.

        Raises:
            ValueError: an operation of torch.distributed whose bytes are not known.
        """
        name = func.name().partition(".")[0]
        if func.namespace in ("c10d", "_c10d_functional"):
            if name not in RECEIVED:
                raise ValueError(f"expected one of {', '.join(RECEIVED)}, got {name}")
            self.received += RECEIVED[name](args, self._world_size)
        return func(*args, **(kwargs or {}))


def _bytes(tensors: list[Tensor]) -> int:
    return sum(tensor.nbytes for tensor in tensors)
