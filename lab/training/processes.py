"""What the processes of a run share: each of a group, or one alone."""

import torch
import torch.distributed as dist
from torch import Tensor

from lab.parallel.process_group import all_reduce_max
from lab.training.shards import blocks


class Alone:
    """The one process of a run, and what it would hear from others."""

    rank = 0
    world_size = 1

    def share(self, data: Tensor, num_shards: int) -> Tensor:
        """This process's part of `data` (n, ...), which all together cut into so many shards."""
        return data

    def total(self, values: Tensor) -> Tensor:
        """The sum of `values` over the processes."""
        return values

    def largest(self, value: float) -> float:
        """The largest `value` of the processes, each of which waits for all."""
        return value

    def gathered(self, values: Tensor) -> list[Tensor]:
        """The `values` of each process, by rank."""
        return [values]

    def of_first(self, values: Tensor) -> Tensor:
        """The `values` of the first process."""
        return values

    def furthest(self, content: bytes | None, reached: int) -> bytes | None:
        """What that process holds which has reached most; None if none holds anything."""
        return content


class Group(Alone):
    """One of the ranks of the process group that there is. All values go by way of the CPU."""

    def __init__(self) -> None:
        self.rank, self.world_size = dist.get_rank(), dist.get_world_size()

    def share(self, data: Tensor, num_shards: int) -> Tensor:
        """This process's part of `data` (n, ...), which all together cut into so many shards."""
        return blocks(data, num_shards, self.world_size)[self.rank]

    def total(self, values: Tensor) -> Tensor:
        """The sum of `values` over the processes, on the CPU."""
        summed = values.to("cpu", copy=True)
        dist.all_reduce(summed)
        return summed

    def largest(self, value: float) -> float:
        """The largest `value` of the processes, each of which waits for all."""
        return all_reduce_max([value])[0]

    def gathered(self, values: Tensor) -> list[Tensor]:
        """The `values` of each process, by rank, on the CPU."""
        mine = values.cpu()
        found = [torch.empty_like(mine) for _ in range(self.world_size)]
        dist.all_gather(found, mine)
        return found

    def of_first(self, values: Tensor) -> Tensor:
        """The `values` of the first process, on the CPU."""
        found = values.to("cpu", copy=True)
        dist.broadcast(found, src=0)
        return found

    def furthest(self, content: bytes | None, reached: int) -> bytes | None:
        """What that process holds which has reached most; nothing is unpickled on the way."""
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
