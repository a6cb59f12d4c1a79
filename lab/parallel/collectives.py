"""All-reduce between processes, written out as messages (book 13.5, 13.7).

Each algorithm sums a contiguous tensor of any length in place over the ranks of a group, one or
more, and leaves the same bits in all of them. Each sums in a fixed order, so a repetition also
gives the same bits. The algorithms differ in that order, and so in the last bits.
"""

from collections.abc import Callable, Sequence

import torch
import torch.distributed as dist
from torch import Tensor

from lab.parallel.cost_model import (
    ADDING,
    HALVING_DOUBLING,
    LIBRARY,
    RING,
    STAR,
    THERE_AND_BACK,
    TREE,
)

Transfer = tuple[Tensor, int]  # a tensor, and the rank to send it to or receive it from


class Ranks:
    """A process group from the view of one rank, with a count of what this rank has sent."""

    def __init__(self, group: dist.ProcessGroup) -> None:
        """Count from zero what this process sends within its `group`."""
        self.group = group
        self.rank, self.world_size = dist.get_rank(self.group), dist.get_world_size(self.group)
        self.messages_sent = self.bytes_sent = 0
        self._kept: dict[str, Tensor] = {}

    def memory(self, use: str, numel: int, like: Tensor) -> Tensor:
        """Return `numel` uninitialized numbers of `like`'s type, in memory kept for the next call.

        New memory comes from the system page by page. For ResNet-18's gradients in one bucket, this
        may take longer than sending them.
        """
        kept = self._kept.get(use)
        if (
            kept is None
            or kept.numel() < numel
            or (kept.dtype, kept.device) != (like.dtype, like.device)
        ):
            self._kept[use] = kept = like.new_empty(numel)
        return kept[:numel]

    def exchange(self, sends: Sequence[Transfer] = (), receives: Sequence[Transfer] = ()) -> None:
        """Send and receive concurrently, and wait for both; an empty tensor makes no message."""
        full_sends = [(tensor, peer) for tensor, peer in sends if tensor.numel()]
        full_receives = [(tensor, peer) for tensor, peer in receives if tensor.numel()]
        self.messages_sent += len(full_sends)
        self.bytes_sent += sum(tensor.nbytes for tensor, _ in full_sends)
        operations = [
            dist.P2POp(operation, tensor, group=self.group, group_peer=peer)
            for operation, transfers in ((dist.isend, full_sends), (dist.irecv, full_receives))
            for tensor, peer in transfers
        ]
        for work in dist.batch_isend_irecv(operations) if operations else ():
            work.wait()


Algorithm = Callable[[Tensor, Ranks], None]


def star(tensor: Tensor, ranks: Ranks) -> None:
    """Sum in rank 0, one rank at a time, and send the sum to each, as the notes do.

    2(n-1) sequential messages of the whole tensor. Order: x0 + x1 + x2 + ... (book 13.5.3).
    """
    if ranks.rank:
        ranks.exchange(sends=[(tensor, 0)])
        ranks.exchange(receives=[(tensor, 0)])
        return
    received = ranks.memory("received", tensor.numel(), tensor).view_as(tensor)
    for other in range(1, ranks.world_size):
        ranks.exchange(receives=[(received, other)])
        tensor.add_(received)
    for other in range(1, ranks.world_size):
        ranks.exchange(sends=[(tensor, other)])


def ring(tensor: Tensor, ranks: Ranks) -> None:
    """Pass partial sums of chunks around the ring n-1 times, then finished chunks n-1 times.

    2(n-1) sequential messages of a chunk, with all links busy concurrently. Each rank sends
    2(n-1)/n of the tensor, the least possible (Patarasuk and Yuan 2009; book 13.7.2). Order: chunk
    c starts at rank c, and ranks c+1, c+2, ... around the ring add to it.
    """
    n, rank = ranks.world_size, ranks.rank
    chunks = tensor.view(-1).tensor_split(n)
    received = ranks.memory("received", len(chunks[0]), tensor)  # the longest
    following, previous = (rank + 1) % n, (rank - 1) % n
    for step in range(n - 1):
        mine, theirs = chunks[(rank - step) % n], chunks[(rank - step - 1) % n]
        arriving = received[: len(theirs)]
        ranks.exchange([(mine, following)], [(arriving, previous)])
        theirs.add_(arriving)
    for step in range(n - 1):
        ranks.exchange(
            [(chunks[(rank + 1 - step) % n], following)], [(chunks[(rank - step) % n], previous)]
        )


def tree(tensor: Tensor, ranks: Ranks) -> None:
    """Sum up a binomial tree to rank 0, and send the sum back down.

    2 ceil(log2 n) sequential messages of the whole tensor (Thakur, Rabenseifner and Gropp 2005).
    Order: neighbours first, ((x0 + x1) + (x2 + x3)) + ...
    """
    n, rank = ranks.world_size, ranks.rank
    # a rank's lowest bit; for the root, which has no parent, more than any distance
    distance_up = rank & -rank if rank else 1 << n.bit_length()
    distances = [1 << level for level in range(n.bit_length()) if 1 << level < distance_up]
    children = [rank + distance for distance in distances if rank + distance < n]
    received = ranks.memory("received", tensor.numel(), tensor).view_as(tensor)
    for child in children:
        ranks.exchange(receives=[(received, child)])
        tensor.add_(received)
    if rank:
        ranks.exchange(sends=[(tensor, rank - distance_up)])
        ranks.exchange(receives=[(tensor, rank - distance_up)])
    for child in reversed(children):
        ranks.exchange(sends=[(tensor, child)])


def halving_doubling(tensor: Tensor, ranks: Ranks) -> None:
    """Swap and sum halves, then quarters, ..., until each rank has a part; then collect the parts.

    2 log2 n sequential messages; each rank sends 2(n-1)/n of the tensor (Rabenseifner's algorithm,
    in Thakur, Rabenseifner and Gropp 2005). Ranks beyond the largest power of two m <= n first send
    their whole tensor to a partner, and get the result last. Order: x_r + x_(r+m) first, then
    neighbours, ((x0 + x1) + (x2 + x3)) + ..., which continues the tree of `lab.training.shards`.
    """
    power = 1 << (ranks.world_size.bit_length() - 1)
    partner = ranks.rank ^ power
    if ranks.rank >= power:
        ranks.exchange(sends=[(tensor, partner)])
        ranks.exchange(receives=[(tensor, partner)])
        return
    received = ranks.memory("received", tensor.numel(), tensor).view_as(tensor)
    if partner < ranks.world_size:
        ranks.exchange(receives=[(received, partner)])
        tensor.add_(received)
    whole, buffer = tensor.view(-1), received.view(-1)
    bounds = [whole.numel() * part // power for part in range(power + 1)]
    first, last = 0, power  # the range of parts that this rank still sums
    steps = []
    while last - first > 1:
        middle = (first + last) // 2
        low, high = whole[bounds[first] : bounds[middle]], whole[bounds[middle] : bounds[last]]
        partner = ranks.rank ^ power // (last - first)  # 1, 2, 4, ... away
        keep, give = (low, high) if ranks.rank < partner else (high, low)
        first, last = (first, middle) if ranks.rank < partner else (middle, last)
        arriving = buffer[: len(keep)]
        ranks.exchange([(give, partner)], [(arriving, partner)])
        keep.add_(arriving)
        steps.append((keep, give, partner))
    for keep, give, partner in reversed(steps):
        ranks.exchange([(keep, partner)], [(give, partner)])
    if ranks.rank + power < ranks.world_size:
        ranks.exchange(sends=[(tensor, ranks.rank + power)])


def library(tensor: Tensor, ranks: Ranks) -> None:
    """Sum by torch.distributed: with gloo on the CPU, with NCCL between GPUs.

    The order is up to the library, and its messages are not counted.
    """
    dist.all_reduce(tensor, group=ranks.group)


ALGORITHMS: dict[str, Algorithm] = {
    STAR: star,
    RING: ring,
    TREE: tree,
    HALVING_DOUBLING: halving_doubling,
    LIBRARY: library,
}


def ping_pong(tensor: Tensor, ranks: Ranks) -> None:
    """Send the tensor from rank 0 to rank 1 and back; no other rank takes part."""
    if ranks.rank == 0:
        ranks.exchange(sends=[(tensor, 1)])
        ranks.exchange(receives=[(tensor, 1)])
    elif ranks.rank == 1:
        ranks.exchange(receives=[(tensor, 0)])
        ranks.exchange(sends=[(tensor, 0)])


def adding(tensor: Tensor, ranks: Ranks) -> None:
    """Add the first half of the tensor to the second in every rank, without messages."""
    first, second = tensor.view(-1).tensor_split(2)
    second.add_(first[: len(second)])


PROBES: dict[str, Algorithm] = {THERE_AND_BACK: ping_pong, ADDING: adding}


def per_tensor(tensors: Sequence[Tensor], algorithm: Algorithm, ranks: Ranks) -> None:
    """Sum each of `tensors` on its own, as the notes do with gradients."""
    for tensor in tensors:
        algorithm(_flat(tensor), ranks)


def in_one_bucket(tensors: Sequence[Tensor], algorithm: Algorithm, ranks: Ranks) -> None:
    """Sum all of `tensors`, of one type, as one bucket: join them in a copy, sum, copy back."""
    flat = [_flat(tensor) for tensor in tensors]
    numel = sum(tensor.numel() for tensor in flat)
    bucket = torch.cat(flat, out=ranks.memory("bucket", numel, flat[0]))
    algorithm(bucket, ranks)
    for tensor, part in zip(
        flat, bucket.split([tensor.numel() for tensor in tensors]), strict=True
    ):
        tensor.copy_(part)


def _flat(tensor: Tensor) -> Tensor:
    """Return a flat view of a dense tensor in memory order, which is the same in all ranks."""
    return tensor.as_strided((tensor.numel(),), (1,))
