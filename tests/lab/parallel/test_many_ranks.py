"""Matching sends and receives of 37 ranks, in torch's fake group, which drops messages.

test_collectives.py checks counts and sums among eight real ranks.
"""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch
import torch.distributed as dist
from torch.testing._internal.distributed.fake_pg import FakeStore

from lab.parallel.collectives import ALGORITHMS, Ranks
from lab.parallel.cost_model import MODELLED

WORLD_SIZE = 37


class Noted(Ranks):
    """A rank's sizes sent and received, in order, by peer."""

    def __init__(self, group):
        super().__init__(group)
        self.sent, self.received = defaultdict(list), defaultdict(list)

    def exchange(self, sends=(), receives=()):
        for noted, transfers in ((self.sent, sends), (self.received, receives)):
            for tensor, peer in transfers:
                noted[peer].append(tensor.numel())
        super().exchange(sends, receives)


@contextmanager
def one_of_many(rank: int) -> Iterator[Noted]:
    """Yield a rank of a group in which the others do not exist."""
    dist.init_process_group("fake", store=FakeStore(), rank=rank, world_size=WORLD_SIZE)
    try:
        yield Noted(dist.group.WORLD)
    finally:
        dist.destroy_process_group()


@pytest.mark.parametrize("name", MODELLED)
def test_every_send_has_a_matching_receive(name):
    """Sizes and order must match between any two ranks, or one waits forever."""
    notes = []
    for rank in range(WORLD_SIZE):
        with one_of_many(rank) as ranks:
            ALGORITHMS[name](torch.zeros(100), ranks)
            notes.append(ranks)
    for rank, ranks in enumerate(notes):
        for peer, sizes in ranks.sent.items():
            assert notes[peer].received[rank] == sizes
        for peer, sizes in ranks.received.items():
            assert notes[peer].sent[rank] == sizes
