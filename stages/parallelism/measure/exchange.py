"""What each device sends in an all-reduce: the notes', and one that all devices share."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from lab.nets.lenet import LENET_SHAPES
from lab.parallel.replicas import Collective, allreduce
from lab.results.curves import Curve, line
from stages.parallelism.measure.names import (
    MOST_SENT,
    NOTES_ALLREDUCE,
    OTHERS_MOVE,
    SHARDED_ALLREDUCE,
)
from stages.parallelism.measure.wires import Crossings


def sharded_allreduce(data: list[Tensor]) -> None:
    """Replace each of `data` by the sum of all, in place; each device adds its share of it."""
    count = len(data)
    parts = [X.view(-1).tensor_split(count) for X in data]
    for owner in range(count):
        allreduce([parts[(owner + i) % count][owner] for i in range(count)])


COLLECTIVES = {NOTES_ALLREDUCE: allreduce, SHARDED_ALLREDUCE: sharded_allreduce}


class Exchange(NamedTuple):
    """What an all-reduce of LeNet's gradient takes; bytes are over those of the gradient."""

    most_sent: float  # by any device
    others_move: float  # the most that any device but the first sends or receives


def measure_allreduce(device_counts: Sequence[int], seed: int) -> Iterator[Curve]:
    """Each all-reduce's exchange by the number of devices."""
    experiments = (MOST_SENT, OTHERS_MOVE)
    for name, collective in COLLECTIVES.items():
        found = [exchange(collective, count, seed) for count in device_counts]
        for experiment, values in zip(experiments, zip(*found, strict=True), strict=True):
            yield line(experiment, name, device_counts, values)


def exchange(collective: Collective, count: int, seed: int) -> Exchange:
    """What an all-reduce over `count` devices takes.

    Raises:
        ValueError: it does not give every device the sum.
    """
    generator = torch.Generator().manual_seed(seed)
    size, moved = 0, torch.zeros(2, count)
    for shape in LENET_SHAPES:
        # whole numbers, whose sums are exact in any order
        data = [torch.randint(100, shape, generator=generator).float() for _ in range(count)]
        wanted = torch.stack(data).sum(0)
        with Crossings(data) as crossings:
            collective(list(data))  # it may change the list: the devices have what is in `data`
        if not all(torch.equal(X, wanted) for X in data):
            raise ValueError("expected the sum on every device")
        size += wanted.nbytes
        moved += torch.tensor([crossings.sent, crossings.received])
    return Exchange(float(moved[0].max()) / size, float(moved[:, 1:].max()) / size)
