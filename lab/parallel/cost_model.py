"""A cost model of an all-reduce, and of a training step that waits for one.

A link has a latency (alpha, seconds per message), a bandwidth (1/beta, bytes per second) and ranks
that add up what arrives (gamma, seconds per byte). An algorithm is described by the sequential
messages, bytes and additions on its longest path. So a time is linear in alpha, beta and gamma, and
a link can be fitted to measured times. After Thakur, Rabenseifner and Gropp, "Optimization of
Collective Communication Operations in MPICH" (2005).

The model assumes that each rank has its own processor, and its own link that sends and receives
concurrently. This is not true for ranks of one host: `shared` assumes the opposite, one processor
that serves all ranks sequentially.
"""

from dataclasses import astuple, dataclass
from typing import NamedTuple

import numpy as np

# names, which rows and pages also use: this file needs no torch
STAR, RING, TREE, HALVING_DOUBLING = "star", "ring", "tree", "halving-doubling"
LIBRARY = "library"  # torch.distributed's own, with unknown messages
MODELLED = (STAR, RING, TREE, HALVING_DOUBLING)
ALGORITHMS = (*MODELLED, LIBRARY)
THERE_AND_BACK, ADDING = "there and back", "adding"
PROBES = (THERE_AND_BACK, ADDING)  # the components of an all-reduce
PER_TENSOR, ONE_BUCKET = "per tensor", "one bucket"


def allreduce_name(algorithm: str, grouping: str) -> str:
    """Return the name of an all-reduce of several tensors."""
    return f"{algorithm}, {grouping}"


@dataclass(frozen=True)
class Link:
    """Seconds per message (alpha), per byte sent (beta), and per byte added (gamma)."""

    alpha_s: float
    s_per_byte: float
    add_s_per_byte: float = 0.0


class Path(NamedTuple):
    """The sequential operations of a path: messages, bytes sent, bytes added."""

    messages: int
    sent_bytes: float
    added_bytes: float

    def seconds(self, link: Link) -> float:
        return float(np.dot(self, astuple(link)))


def allreduce_path(
    algorithm: str, n: int, num_tensors: int, num_bytes: float, shared: bool = False
) -> Path:
    """Return the longest path of an all-reduce by n ranks of `num_bytes` in `num_tensors` tensors.

    With `shared`, everything that any rank does is sequential, as if one processor or wire served
    all ranks. Then all algorithms move 2(n-1) times the vector and add n-1 times the vector, and
    differ only in the number of messages. One rank needs no messages.

    Raises:
        ValueError: the model does not know the algorithm.
    """
    levels = (n - 1).bit_length()  # of the tree
    k = n.bit_length() - 1
    # ranks beyond this power of two first send their vector to a partner, and get the result last
    m = 1 << k
    fold = int(n > m)
    paths = {  # messages of all ranks; on the path: messages, vectors sent, vectors added
        STAR: (2 * (n - 1), 2 * (n - 1), 2 * (n - 1), n - 1),
        RING: (2 * n * (n - 1), 2 * (n - 1), 2 * (n - 1) / n, (n - 1) / n),
        TREE: (2 * (n - 1), 2 * levels, 2 * levels, levels),
        HALVING_DOUBLING: (
            2 * m * k + 2 * (n - m),
            2 * (k + fold),
            2 * (1 - 1 / m + fold),
            1 - 1 / m + fold,
        ),
    }
    if algorithm not in paths:
        raise ValueError(f"expected one of {', '.join(paths)}, got {algorithm!r}")
    of_all, messages, sent, added = paths[algorithm]
    if shared:
        messages, sent, added = of_all, 2 * (n - 1), n - 1
    return Path(num_tensors * messages, sent * num_bytes, added * num_bytes)


def allreduce_s(
    algorithm: str, n: int, num_tensors: int, num_bytes: float, link: Link, shared: bool = False
) -> float:
    """Return the seconds of the path of `allreduce_path` over `link`."""
    return allreduce_path(algorithm, n, num_tensors, num_bytes, shared).seconds(link)


def bytes_sent(algorithm: str, n: int, num_bytes: float) -> float:
    """Return the bytes that the busiest rank sends: a star's rank 0, a tree's root, any in a ring.

    Raises:
        ValueError: the model does not know the algorithm.
    """
    # a rank with a partner beyond the power of two also sends it the result
    if algorithm == HALVING_DOUBLING:
        m = 1 << (n.bit_length() - 1)
        return (2 * (1 - 1 / m) + (n > m)) * num_bytes
    sent = allreduce_path(algorithm, n, 1, num_bytes).sent_bytes
    # the path goes both ways, of which a rank sends one
    return sent if algorithm == RING else sent / 2


def bus_bandwidth(num_bytes: float, n: int, seconds: float) -> float:
    """Return the bytes/s per rank that the best algorithm would need (nccl-tests' busbw)."""
    return 2 * (n - 1) / n * num_bytes / seconds


# --- a training step


def step_bounds(t1: float, t2: float) -> tuple[float, float]:
    """Return a step's bounds, given compute time t1 and communication time t2.

    The lower bound, with perfect overlap, is the book's max(t1, t2) (13.7). The upper one, without
    overlap, is what the book's code takes, which sums gradients after backward.
    """
    return max(t1, t2), t1 + t2


# --- other machines


@dataclass(frozen=True)
class Interconnect:
    """A published bandwidth (one way) and latency with their source; additions count as free."""

    name: str
    gb_per_s: float
    latency_us: float
    latency_is_assumed: bool
    source: str

    @property
    def link(self) -> Link:
        return Link(1e-6 * self.latency_us, 1e-9 / self.gb_per_s)


INTERCONNECTS = (
    Interconnect("NVLink 4", 380, 10, True, "measured between two H100: nccl issue 1264"),
    Interconnect(
        "PCIe 5 x16", 52.8, 10, True, "measured from an H100 to the host: nvbandwidth issue 24"
    ),
    Interconnect("100 Gb/s network", 12.5, 30, True, "line rate"),
    Interconnect("25 Gb/s network", 3.125, 30, True, "line rate"),
    Interconnect("gloo on one host", 2.4, 200, False, "fitted to the times in torchft issue 199"),
)
