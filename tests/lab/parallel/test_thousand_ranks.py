"""What all-reduces send among 37 and 1024 ranks of torch's fake group, whose messages go nowhere.

Among eight ranks test_collectives.py counts, and checks the sums, too.
"""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch
import torch.distributed as dist
from torch.testing._internal.distributed.fake_pg import FakeStore

from lab.parallel import cost_model
from lab.parallel.collectives import ALGORITHMS, Ranks
from lab.parallel.cost_model import HALVING_DOUBLING, MODELLED, RING, STAR, TREE

MANY, SOME, LENGTH = 1024, 37, 4096
NUM_BYTES = 4 * LENGTH


class Noted(Ranks):
    """Notes what a rank sends and receives, in order, by peer."""

    def __init__(self, group):
        super().__init__(group)
        self.sent, self.received = defaultdict(list), defaultdict(list)

    def exchange(self, sends=(), receives=()):
        for noted, transfers in ((self.sent, sends), (self.received, receives)):
            for tensor, peer in transfers:
                noted[peer].append(tensor.numel())
        super().exchange(sends, receives)


@contextmanager
def one_of(rank: int, world_size: int) -> Iterator[Noted]:
    """A rank of a group whose other ranks do not exist."""
    dist.init_process_group("fake", store=FakeStore(), rank=rank, world_size=world_size)
    try:
        yield Noted(dist.group.WORLD)
    finally:
        dist.destroy_process_group()


def sent_by(name: str, rank: int, world_size: int) -> tuple[int, int]:
    """The messages and bytes that a rank sends."""
    with one_of(rank, world_size) as ranks:
        ALGORITHMS[name](torch.zeros(LENGTH), ranks)
        return ranks.messages_sent, ranks.bytes_sent


@pytest.mark.parametrize(
    ("name", "busiest", "messages", "num_bytes"),
    [
        (STAR, 0, 1023, 1023 * NUM_BYTES),
        (RING, 0, 2046, 2046 * NUM_BYTES // 1024),
        (RING, 517, 2046, 2046 * NUM_BYTES // 1024),
        (TREE, 0, 10, 10 * NUM_BYTES),
        (HALVING_DOUBLING, 0, 20, 2046 * NUM_BYTES // 1024),
        (HALVING_DOUBLING, 1023, 20, 2046 * NUM_BYTES // 1024),
    ],
)
def test_the_busiest_of_1024_ranks_sends_what_the_model_counts(name, busiest, messages, num_bytes):
    assert sent_by(name, busiest, MANY) == (messages, num_bytes)
    assert cost_model.bytes_sent(name, MANY, NUM_BYTES) == num_bytes
    one_way = {STAR, TREE}  # what is sent up the path and down it
    path = cost_model.allreduce_path(name, MANY, 1, NUM_BYTES)
    assert path.messages == messages * (2 if name in one_way else 1)


@pytest.mark.parametrize("name", [STAR, TREE])
def test_all_others_of_the_star_and_the_tree_send_few(name):
    """Once to the root and, in a tree, to each child: 2(n-1) messages in all."""
    sent = [sent_by(name, rank, SOME) for rank in range(SOME)]
    assert sum(messages for messages, _ in sent) == 2 * (SOME - 1)
    assert sum(num_bytes for _, num_bytes in sent) == 2 * (SOME - 1) * NUM_BYTES
    assert max(sent) == sent[0]


@pytest.mark.parametrize("name", MODELLED)
def test_whatever_a_rank_sends_another_one_waits_for(name):
    """Sizes and order match between any two ranks, so that nobody waits for ever."""
    notes = []
    for rank in range(SOME):
        with one_of(rank, SOME) as ranks:
            ALGORITHMS[name](torch.zeros(100), ranks)
            notes.append(ranks)
    for rank, ranks in enumerate(notes):
        for peer, sizes in ranks.sent.items():
            assert notes[peer].received[rank] == sizes
        for peer, sizes in ranks.received.items():
            assert notes[peer].sent[rank] == sizes
