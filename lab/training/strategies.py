"""How a net is trained on its devices, by name: forms of the same step of SGD.

`replicas` is the book's own, by hand (13.5); `graph` is its step on one GPU, recorded as a whole.
`dataparallel` is nn.DataParallel, which the notes use (13.6); it splits over GPUs only. `ddp` is
DistributedDataParallel, one process for each device, in the process group that
`lab.parallel.launch` makes. The last two average gradients or gather outputs; all are given the
summed loss and divide by the whole batch, so a smaller or uneven shard weighs as much as its
images.
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from lab.core import fail_points
from lab.core.shared_params import Compile, Precision
from lab.data.images import LabelledImages
from lab.machine.gpus.graphs import recorded
from lab.nets.models import OnBytes
from lab.optim.update_rules import nesterov
from lab.parallel.device_workers import thread_pool
from lab.parallel.flat_bucket import FlatBuckets
from lab.parallel.replicas import Update, forward_backward, replicate, sgd, train_batch
from lab.training.update_steps import RuleUpdates

# params: by name; buffers: by name, one dictionary for each replica of all processes; updates: the
# state of the first replica's, which all replicas share
State = dict[str, Any]


# of a step: what replays it, and the loss that it returned
Recorder = Callable[[Callable[[], Tensor]], tuple[Callable[[], None], Tensor]]


@dataclass(frozen=True)
class Recipe:
    """How a step is taken, on whatever devices.

    Attributes:
        compile_mode: of forward and backward, at the first batch of each size.
        momentum: Nesterov's, where it is above 0.
        weight_decay: the share of each weight, not of biases and batch norm's scales, that is added
            to its gradient (Krogh and Hertz 1991).
        label_smoothing: the share of each answer that all classes have in equal parts (Szegedy et
            al. 2016, section 7).
    """

    precision: Precision = "fp32"
    compile_mode: Compile = "none"
    momentum: float = 0
    weight_decay: float = 0
    label_smoothing: float = 0


class Strategy(ABC):
    """A net on a run's devices.

    `nets` are the replicas in this process, one on each of `devices`. What concerns the other
    processes of a run is the identity here: `ddp` alone has any.
    """

    num_processes = 1
    is_first = True  # of the processes: the one that keeps the books and writes

    def __init__(
        self, net: nn.Module, devices: Sequence[torch.device], recipe: Recipe = Recipe()
    ) -> None:
        """Copy `net`, which takes float images (n, 1, 28, 28), to `devices`."""
        self.devices = list(devices)
        self.nets = [OnBytes(replicate(net, device), recipe.precision) for device in devices]
        self.compiled = recipe.compile_mode != "none"
        if self.compiled:
            # copies to evaluate with are not compiled
            for on_bytes in self.nets:
                on_bytes.compile(mode=recipe.compile_mode, dynamic=False)
        rule = partial(nesterov, beta=recipe.momentum)
        self.updates: list[Update] = [
            RuleUpdates(rule, recipe.weight_decay)
            if recipe.momentum or recipe.weight_decay
            else sgd
            for _ in self.nets
        ]
        self.label_smoothing = recipe.label_smoothing
        self.pool = thread_pool(len(devices), torch.get_num_threads())

    @abstractmethod
    def step(self, X: Tensor, y: Tensor, lr: float, batch_size: int) -> Tensor:
        """Take a step on this process's share of a batch: uint8 images X (n, 28, 28), y (n,).

        The share is one of `batch_size` images. Returns the loss summed over it, a scalar on the
        first device.
        """

    def step_on(
        self, train_set: LabelledImages, rows: Tensor, lr: float, batch_size: int
    ) -> Tensor:
        """Take a step on some rows of images on the first device; the result as of `step`.

        It may be overwritten by the next step's.
        """
        X, y = (tensor.index_select(0, rows) for tensor in train_set)
        return self.step(X, y, lr, batch_size)

    def share(self, data: Tensor) -> Tensor:
        """This process's part of what all processes divide among them."""
        return data

    def total(self, values: Tensor) -> Tensor:
        """The sum of `values` over the processes."""
        return values

    def largest(self, value: int) -> int:
        """The largest `value` of the processes."""
        return value

    def any(self, flag: bool) -> bool:
        """Whether `flag` is set in any process."""
        return bool(self.largest(int(flag)))

    def broadcast(self, content: bytes | None) -> bytes | None:
        """What the first process holds."""
        return content

    def evaluators(self) -> list[OnBytes]:
        """Copies of the first replica and its running statistics, one for each device."""
        return [replicate(self.nets[0], device).eval() for device in self.devices]

    def state(self) -> State:
        """Copies on the CPU of all that training changes."""
        return {
            "params": {name: _to_cpu(p) for name, p in self.nets[0].net.named_parameters()},
            "buffers": [
                {name: _to_cpu(b) for name, b in net.net.named_buffers()} for net in self.nets
            ],
            "updates": [
                [_to_cpu(part) for part in each]
                for rule in self._rules()[:1]
                for each in rule.states
            ],
        }

    def load_state(self, state: State) -> None:
        """Take over what `state` returned in a run of the same net on as many devices."""
        for net, buffers in zip(self.nets, state["buffers"], strict=True):
            net.net.load_state_dict({**state["params"], **buffers})
        for rule, device in zip(self._rules(), self.devices, strict=False):
            rule.states = [
                tuple(part.to(device, copy=True) for part in each) for each in state["updates"]
            ]

    def _rules(self) -> list[RuleUpdates]:
        """The updates that keep a state, one for each replica; plain SGD keeps none."""
        return [update for update in self.updates if isinstance(update, RuleUpdates)]

    def close(self) -> None:
        """End the threads."""
        self.pool.shutdown()


def _to_cpu(tensor: Tensor) -> Tensor:
    return tensor.detach().to("cpu", copy=True)


class Replicas(Strategy):
    """The book's data parallelism, from scratch, but with all gradients summed in one go."""

    def __init__(
        self, net: nn.Module, devices: Sequence[torch.device], recipe: Recipe = Recipe()
    ) -> None:
        """Copy the net to `devices`, with a bucket on each for its gradients."""
        super().__init__(net, devices, recipe)
        self._buckets = FlatBuckets(self.nets)

    def step(self, X: Tensor, y: Tensor, lr: float, batch_size: int) -> Tensor:
        """Take a step as `replicas.train_batch` does."""
        losses = train_batch(
            X,
            y,
            self.nets,
            self.devices,
            lr,
            self.pool,
            self._buckets.sum_gradients,
            self.updates,
            label_smoothing=self.label_smoothing,
        )
        return reduce(torch.add, (loss.to(self.devices[0]) for loss in losses))


class _StepGraph(NamedTuple):
    """A recorded step: `replay` takes it on `rows` and writes its `loss`."""

    rows: Tensor
    replay: Callable[[], None]
    loss: Tensor


class Graph(Replicas):
    """The step of one GPU as a CUDA graph: all of it, from picking the rows to the new weights.

    Each number of rows has a graph of its own, recorded at the first such step and replayed from
    then on by one call, with no work of Python's in between. The rate is part of it. Without a GPU
    the step is taken as it is.
    """

    def __init__(
        self, net: nn.Module, devices: Sequence[torch.device], recipe: Recipe = Recipe()
    ) -> None:
        """Copy the net to the one device of `devices`.

        Raises:
            ValueError: several devices, or updates with a state, which makes its tensors anew.
        """
        super().__init__(net, devices, recipe)
        if len(devices) > 1 or self._rules():
            raise ValueError("expected one device and plain SGD for a step as a graph")
        self.record: Recorder | None = None
        if self.devices[0].type == "cuda":
            self.record = partial(recorded, pool=torch.cuda.graph_pool_handle())
        self._graphs: dict[tuple[float, ...], _StepGraph] = {}

    def step_on(
        self, train_set: LabelledImages, rows: Tensor, lr: float, batch_size: int
    ) -> Tensor:
        """Take a step whose loss the next step of as many rows overwrites."""
        if self.record is None:
            return super().step_on(train_set, rows, lr, batch_size)
        key = (len(rows), lr, batch_size, *(tensor.data_ptr() for tensor in train_set))
        if key not in self._graphs:
            before = self.state()
            own_rows = rows.clone()
            step = partial(super().step_on, train_set, own_rows, lr, batch_size)
            self._graphs[key] = _StepGraph(own_rows, *self.record(step))
            self.load_state(before)  # as it was before the steps that warm a recording up
        graph = self._graphs[key]
        graph.rows.copy_(rows)
        graph.replay()
        return graph.loss


class DataParallel(Strategy):
    """nn.DataParallel: replicas made anew from the first GPU in every step.

    Without GPUs it is the net itself.
    """

    def __init__(
        self, net: nn.Module, devices: Sequence[torch.device], recipe: Recipe = Recipe()
    ) -> None:
        """Put the net on the first of `devices`, which must differ."""
        super().__init__(net, devices[:1], recipe)
        [net] = self.nets
        self._parallel = nn.DataParallel(net, list(devices)) if devices[0].type == "cuda" else net

    def step(self, X: Tensor, y: Tensor, lr: float, batch_size: int) -> Tensor:
        """Take a step with outputs and loss on the first device."""
        loss = forward_backward(self._parallel, X, y, label_smoothing=self.label_smoothing)
        self.updates[0](self.nets[0].parameters(), lr, batch_size)
        return loss


class Ddp(Strategy):
    """DistributedDataParallel on this process's one device, in the process group that there is."""

    def __init__(
        self, net: nn.Module, devices: Sequence[torch.device], recipe: Recipe = Recipe()
    ) -> None:
        """Copy the net to the one device of `devices`."""
        super().__init__(net, devices, recipe)
        [device] = devices
        self.num_processes = dist.get_world_size()
        self._rank = dist.get_rank()
        self.is_first = self._rank == 0
        # new name since torch 2.13
        with warnings.catch_warnings(action="ignore", category=FutureWarning):
            self._parallel = DistributedDataParallel(
                self.nets[0],
                [device] if device.type == "cuda" else None,
                # running statistics do not enter training: each device keeps its own, as with
                # `replicas`
                broadcast_buffers=False,
                # no copy back: a gradient becomes a part of its bucket, until the update drops it
                gradient_as_bucket_view=True,
            )

    def step(self, X: Tensor, y: Tensor, lr: float, batch_size: int) -> Tensor:
        """Take a step with the gradient scaled up: DDP averages over processes, the book sums."""
        loss = forward_backward(
            self._parallel, X, y, self.num_processes, label_smoothing=self.label_smoothing
        )
        self.updates[0](self.nets[0].parameters(), lr, batch_size)
        return loss

    def share(self, data: Tensor) -> Tensor:
        """This process's part of `data`, by the rule of `replicas.split_batch`."""
        return data.tensor_split(self.num_processes)[self._rank]

    def total(self, values: Tensor) -> Tensor:
        """The sum of `values` over the processes, on the CPU."""
        fail_points.reach("collective")
        summed = _to_cpu(values)
        dist.all_reduce(summed)
        return summed

    def largest(self, value: int) -> int:
        """The largest `value` of the processes."""
        fail_points.reach("collective")
        found = torch.tensor(value)
        dist.all_reduce(found, dist.ReduceOp.MAX)
        return int(found)

    def broadcast(self, content: bytes | None) -> bytes | None:
        """What the first process holds; nothing is unpickled on the way."""
        fail_points.reach("collective")
        size = torch.tensor(-1 if content is None else len(content))
        dist.broadcast(size, src=0)
        if size < 0:
            return None
        data = torch.empty(int(size), dtype=torch.uint8)
        if content is not None:
            data = torch.frombuffer(bytearray(content), dtype=torch.uint8)
        dist.broadcast(data, src=0)
        return data.numpy().tobytes()

    def evaluators(self) -> list[OnBytes]:
        """A copy of the first process's replica and its running statistics, on this device."""
        [net] = super().evaluators()
        for buffer in net.buffers():
            value = _to_cpu(buffer)
            dist.broadcast(value, src=0)
            buffer.copy_(value)
        return [net]

    def state(self) -> State:
        """Copies of the weights and of every process's buffers."""
        state = super().state()
        [mine] = state["buffers"]
        gathered = {
            name: [torch.empty_like(b) for _ in range(self.num_processes)]
            for name, b in mine.items()
        }
        fail_points.reach("collective")
        for name, values in gathered.items():
            dist.all_gather(values, mine[name])
        state["buffers"] = [
            {name: v[rank] for name, v in gathered.items()} for rank in range(self.num_processes)
        ]
        return state

    def load_state(self, state: State) -> None:
        """Take over the weights and this process's own buffers."""
        super().load_state({**state, "buffers": [state["buffers"][self._rank]]})


STRATEGIES: dict[str, type[Strategy]] = {
    "replicas": Replicas,
    "graph": Graph,
    "dataparallel": DataParallel,
    "ddp": Ddp,
}
