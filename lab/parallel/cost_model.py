"""What an all-reduce, and a training step that waits for one, should cost: a model of few numbers,
to be measured.

A link has a latency (alpha, seconds per message), a bandwidth (1/beta, bytes per second) and ranks
that add up what arrives (gamma, seconds per byte). An algorithm is the messages, the bytes and the
additions that follow one another on its longest path, so a time is linear in alpha, beta and gamma,
and a link can be told from measured times. After Thakur, Rabenseifner and Gropp, "Optimization of
Collective Communication Operations in MPICH" (2005).

That takes each rank to have a processor and a link of its own that sends and receives at once.
Ranks of one host have not: `shared` reckons the other way, as if one processor served them all, one
after the other.
"""

import itertools
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab.results.stats import CONFIDENCE, summarise

RESAMPLES = 200  # of the rounds, from which a fitted link's intervals are told


@dataclass(frozen=True)
class Link:
    """Seconds per message, per byte sent, and per byte that is added to another: alpha, beta,
    gamma.
    """

    alpha_s: float
    s_per_byte: float
    add_s_per_byte: float = 0.0


class Path(NamedTuple):
    """What follows one another: messages, bytes sent, bytes added to others."""

    messages: int
    sent_bytes: float
    added_bytes: float

    def seconds(self, link: Link) -> float:
        """Return the time over `link`."""
        return float(np.dot(self, astuple(link)))


def allreduce_path(
    algorithm: str, n: int, num_tensors: int, num_bytes: float, shared: bool = False
) -> Path:
    """Return the longest path of an all-reduce of `num_bytes` by n ranks, in so many tensors, one
    after the other.

    With `shared` everything that any rank does follows one another, as where one processor or wire
    serves them all: then each algorithm moves and adds as much as any other, 2(n-1) and n-1 times
    the vector, and only the number of messages differs. One rank needs no messages.

    Raises:
        ValueError: an algorithm that the model does not know.
    """
    levels = (n - 1).bit_length()  # of the tree
    k = n.bit_length() - 1
    # ranks beyond this power of two hand over what they have first, and get the result last
    m = 1 << k
    fold = int(n > m)
    paths = {  # messages of all ranks; on the path: messages, vectors sent, vectors added
        "star": (2 * (n - 1), 2 * (n - 1), 2 * (n - 1), n - 1),
        "ring": (2 * n * (n - 1), 2 * (n - 1), 2 * (n - 1) / n, (n - 1) / n),
        "tree": (2 * (n - 1), 2 * levels, 2 * levels, levels),
        "halving-doubling": (
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
    """Return the seconds of an all-reduce of `num_bytes` in so many tensors by n ranks, as
    `allreduce_path`.
    """
    return allreduce_path(algorithm, n, num_tensors, num_bytes, shared).seconds(link)


def bytes_sent(algorithm: str, n: int, num_bytes: float) -> float:
    """Return the bytes that the busiest rank sends: rank 0 of a star, the root of a tree, any rank
    of a ring.

    Raises:
        ValueError: an algorithm that the model does not know.
    """
    # if ranks are folded in, one that got another's vector sends the result
    if algorithm == "halving-doubling":
        m = 1 << (n.bit_length() - 1)
        return (2 * (1 - 1 / m) + (n > m)) * num_bytes
    sent = allreduce_path(algorithm, n, 1, num_bytes).sent_bytes
    # what goes both ways on the path is sent by one rank one way
    return sent if algorithm == "ring" else sent / 2


def bus_bandwidth(num_bytes: float, n: int, seconds: float) -> float:
    """Return bytes per second and rank that the best algorithm would need to be as fast
    (nccl-tests' busbw).
    """
    return 2 * (n - 1) / n * num_bytes / seconds


# --- a link, told from measured times
# -------------------------------------------------------------------------


@dataclass(frozen=True)
class FittedLink:
    """A link with the ends of its numbers' 99 % intervals, and the relative error (k,) of each
    fitted time.
    """

    link: Link
    low: Link
    high: Link
    errors: NDArray[np.float64]


def fit_link(samples: Sequence[tuple[Path, Sequence[float]]], seed: int) -> FittedLink:
    """Return the link whose times are nearest to the medians of `samples`, in relative errors.

    Least squares with no number below zero. An all-reduce adds up half the bytes that it sends,
    whatever the algorithm, so alone it cannot tell the cost of adding from that of sending: give
    paths of other proportions, too. The intervals are from resampled rounds: sample i of all paths
    was taken in round i.

    Args:
        samples: paths, each with its seconds in every round.
        seed: of the resampling.

    Raises:
        ValueError: fewer than three paths, or differing numbers of rounds.
    """
    if len(samples) < 3 or len({len(seconds) for _, seconds in samples}) != 1:
        raise ValueError("expected three or more paths with as many rounds each")
    paths = np.array([path for path, _ in samples], dtype=float)
    seconds = np.array([values for _, values in samples], dtype=float)
    rounds = np.random.default_rng(seed).integers(
        seconds.shape[1], size=(RESAMPLES, seconds.shape[1])
    )
    resampled = [_nearest(paths, np.median(seconds[:, chosen], axis=1)) for chosen in rounds]
    low, high = np.quantile(resampled, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=0)
    medians = np.median(seconds, axis=1)
    found = _nearest(paths, medians)
    return FittedLink(
        Link(*found.tolist()),
        Link(*low.tolist()),
        Link(*high.tolist()),
        paths @ found / medians - 1,
    )


def _nearest(paths: NDArray[np.float64], seconds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return x (3,) >= 0 with the least |paths x / seconds - 1|, the best of all subsets' positive
    solutions.
    """
    rows = paths / seconds[:, None]
    scale: NDArray[np.float64] = np.maximum(
        np.linalg.norm(rows, axis=0), np.finfo(float).tiny
    )  # messages and bytes differ by 10^8
    best, least = np.zeros(3), float(len(rows))
    for size in (1, 2, 3):
        for columns in map(list, itertools.combinations(range(3), size)):
            x = np.zeros(3)
            x[columns] = np.linalg.lstsq((rows / scale)[:, columns], np.ones(len(rows)))[0]
            misfit = float(np.sum((rows / scale @ x - 1) ** 2))
            if x.min() >= 0 and misfit < least:
                best, least = x / scale, misfit
    return best


def typical_errors(errors: Sequence[float] | NDArray[np.float64]) -> tuple[float, float]:
    """Return the median and the largest of relative errors' sizes, in percent."""
    sizes = [100 * abs(float(error)) for error in errors]
    return summarise(sizes).median, max(sizes)


# --- the book's example (13.7)
# ----------------------------------------------------------------------------------


def one_gpu_aggregates_s(num_bytes: float, bytes_per_s: float, num_gpus: int) -> float:
    """Return the seconds if one of the GPUs receives all gradients and sends back the sum: a star,
    no latency.
    """
    return 2 * (num_gpus - 1) * num_bytes / bytes_per_s


def cpu_aggregates_s(num_bytes: float, bytes_per_s: float, num_gpus: int) -> float:
    """Return the seconds if the CPU does it: every GPU sends."""
    return 2 * num_gpus * num_bytes / bytes_per_s


def every_gpu_aggregates_s(num_bytes: float, bytes_per_s: float, num_gpus: int) -> float:
    """Return the seconds if each GPU aggregates its share of the gradient, all at once: a ring's
    volume.
    """
    return one_gpu_aggregates_s(num_bytes, bytes_per_s, num_gpus) / num_gpus


# --- a training step
# --------------------------------------------------------------------------------------------


def step_bounds(t1: float, t2: float) -> tuple[float, float]:
    """Return the bounds of a step that computes for t1 and communicates for t2: perfect overlap,
    and none.

    The book's max(t1, t2) is the first (13.7); its own code, which sums gradients after backward,
    takes the second.
    """
    return max(t1, t2), t1 + t2


def crossing_batch(t1_fixed_s: float, t1_per_image_s: float, t2_s: float, n: int) -> float:
    """Return the batch over n devices from which on each computes for longer than it communicates.

    A device computes its share of b images in t1_fixed_s + t1_per_image_s b / n; communication
    takes t2_s whatever the batch.
    """
    return n * max(0.0, t2_s - t1_fixed_s) / t1_per_image_s


def step_with_buckets(
    ready_times: Sequence[float], costs: Sequence[float], t_compute: float
) -> float:
    """Return the time of a step whose gradients are reduced bucket by bucket while the rest is
    computed.

    Bucket k can start when it is ready and the one before is done: e_k = max(e_(k-1), r_k) + c_k.
    """
    end = 0.0
    for ready, cost in zip(ready_times, costs, strict=True):
        end = max(end, ready) + cost
    return max(t_compute, end)


# --- other machines
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Interconnect:
    """A published bandwidth, one way, and latency; who published them. Adding is taken to cost
    nothing.
    """

    name: str
    gb_per_s: float
    latency_us: float
    latency_is_assumed: bool
    source: str

    @property
    def link(self) -> Link:
        """The link that the model reckons with."""
        return Link(1e-6 * self.latency_us, 1e-9 / self.gb_per_s)


INTERCONNECTS = (
    Interconnect("NVLink 4", 380, 10, True, "measured between two H100: nccl issue 1264"),
    Interconnect(
        "PCIe 5 x16", 52.8, 10, True, "measured from an H100 to the host: nvbandwidth issue 24"
    ),
    Interconnect("100 Gb/s network", 12.5, 30, True, "line rate"),
    Interconnect("25 Gb/s network", 3.125, 30, True, "line rate"),
    Interconnect("gloo on one host", 2.4, 200, False, "told from the times in torchft issue 199"),
)
