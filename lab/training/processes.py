"""Communication between a run's processes: a group's ranks, or a single process."""

import torch
import torch.distributed as dist
from torch import Tensor

from lab.parallel.process_group import all_reduce_max
from lab.training.shards import blocks


class Alone:
    """A run's only process; its collectives are trivial."""

    rank = 0
    world_size = 1

    def share(self, data: Tensor, num_shards: int) -> Tensor:
        """Return this process's part of `data` (n, ...), split into shards over all processes."""
        return data

    def total(self, values: Tensor) -> Tensor:
        """Return the sum of `values` over the processes."""
        return values

    def largest(self, value: float) -> float:
        """Return the largest `value` of all processes; they wait for each other."""
        return value

    def gathered(self, values: Tensor) -> list[Tensor]:
        """Return each process's `values`, by rank."""
        return [values]

    def of_first(self, values: Tensor) -> Tensor:
        """Return the first process's `values`."""
        return values

    def latest_checkpoint(self, content: bytes | None, reached: int) -> bytes | None:
        """Return the `content` of the process that got furthest; None if none has any."""
        return content


class Group(Alone):
    """A rank of the current process group. All values travel through the CPU."""

    def __init__(self) -> None:
        self.rank, self.world_size = dist.get_rank(), dist.get_world_size()

    def share(self, data: Tensor, num_shards: int) -> Tensor:
        """Return this process's part of `data` (n, ...), split into shards over all processes."""
        return blocks(data, num_shards, self.world_size)[self.rank]

    def total(self, values: Tensor) -> Tensor:
        """Return the sum of `values` over the processes, on the CPU."""
        summed = values.to("cpu", copy=True)
        dist.all_reduce(summed)
        return summed

    def largest(self, value: float) -> float:
        """Return the largest `value` of all processes; they wait for each other."""
        return all_reduce_max([value])[0]

    def gathered(self, values: Tensor) -> list[Tensor]:
        """Return each process's `values`, by rank, on the CPU."""
        mine = values.cpu()
        found = [torch.empty_like(mine) for _ in range(self.world_size)]
        dist.all_gather(found, mine)
        return found

    def of_first(self, values: Tensor) -> Tensor:
        """Return the first process's `values`, on the CPU."""
        found = values.to("cpu", copy=True)
        dist.broadcast(found, src=0)
        return found

    def latest_checkpoint(self, content: bytes | None, reached: int) -> bytes | None:
        """Return the `content` of the process that got furthest, without unpickling anything."""
        most = self.largest(-1 if content is None else reached)
        if most < 0:
            return None
        holds = content is not None and reached == most
        source = int(self.largest(self.rank if holds else -1))
        size = torch.tensor(len(content or b""))
        dist.broadcast(size, src=source)
        data = torch.empty(int(size), dtype=torch.uint8)
        if content is not None and self.rank == source:
            data = torch.frombuffer(bytearray(content), dtype=torch.uint8)
        dist.broadcast(data, src=source)
        return data.numpy().tobytes()
