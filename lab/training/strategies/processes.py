"""A process for each device: what they tell each other, and `ddp`, DistributedDataParallel."""

from collections.abc import Sequence

import torch
import torch.distributed as dist
from torch import Tensor, nn

from lab.nets.models import UInt8Input
from lab.parallel.replicas import forward_backward, overlapping
from lab.training.run_params import NOTES, RunParams
from lab.training.shards import blocks
from lab.training.strategies.base import State, Strategy, to_cpu


class Processes(Strategy):
    """One of the processes of the process group that there is (`lab.parallel.launch`)."""

    @property
    def num_processes(self) -> int:
        """Of the run."""
        return dist.get_world_size()

    @property
    def is_first(self) -> bool:
        """Whether this is the process that keeps the books and writes."""
        return self._rank == 0

    @property
    def _rank(self) -> int:
        return dist.get_rank()

    def share(self, data: Tensor) -> Tensor:
        """This process's part of `data`: the shards of its devices."""
        return blocks(data, self.num_shards, self.num_processes)[self._rank]

    def total(self, values: Tensor) -> Tensor:
        """The sum of `values` over the processes, on the CPU."""
        summed = to_cpu(values)
        dist.all_reduce(summed)
        return summed

    def largest(self, value: int) -> int:
        """The largest `value` of the processes."""
        found = torch.tensor(value)
        dist.all_reduce(found, dist.ReduceOp.MAX)
        return int(found)

    def furthest(self, content: bytes | None, reached: int) -> bytes | None:
        """What that process holds which has reached most; nothing is unpickled on the way."""
        most = self.largest(-1 if content is None else reached)
        if most < 0:
            return None
        holds = content is not None and reached == most
        source = self.largest(self._rank if holds else -1)
        size = torch.tensor(len(content or b""))
        dist.broadcast(size, src=source)
        data = torch.empty(int(size), dtype=torch.uint8)
        if content is not None and self._rank == source:
            data = torch.frombuffer(bytearray(content), dtype=torch.uint8)
        dist.broadcast(data, src=source)
        return data.numpy().tobytes()


class Ddp(Processes):
    """DistributedDataParallel on this process's one device, in the process group that there is."""

    def __init__(
        self, net: nn.Module, devices: Sequence[torch.device], recipe: RunParams = NOTES
    ) -> None:
        """Copy the net to the one device of `devices`."""
        super().__init__(net, devices, recipe)
        [device] = devices
        self._parallel = overlapping(self.nets[0], device)

    def step(self, X: Tensor, y: Tensor, lr: float, batch_size: int) -> Tensor:
        """Take a step with the gradient scaled up: DDP averages over processes, the book sums."""
        loss = forward_backward(
            self._parallel, X, y, self.num_processes, label_smoothing=self.recipe.label_smoothing
        )
        self.updates[0](self.nets[0].parameters(), lr, batch_size)
        return loss

    def evaluators(self) -> list[UInt8Input]:
        """A copy of the first process's replica and its running statistics, on this device."""
        [net] = super().evaluators()
        for buffer in net.buffers():
            value = to_cpu(buffer)
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
        for name, values in gathered.items():
            dist.all_gather(values, mine[name])
        state["buffers"] = [
            {name: v[rank] for name, v in gathered.items()} for rank in range(self.num_processes)
        ]
        return state

    def load_state(self, state: State) -> None:
        """Take over the weights and this process's own buffers."""
        super().load_state({**state, "buffers": [state["buffers"][self._rank]]})
