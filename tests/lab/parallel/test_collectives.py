"""All-reduce by messages between real processes, for every number of ranks and length."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import Tensor

from lab.machine.devices import Devices
from lab.parallel import cost_model
from lab.parallel.collectives import ALGORITHMS, PROBES, Algorithm, Ranks, in_one_bucket, per_tensor
from lab.parallel.cost_model import ADDING, HALVING_DOUBLING, RING, STAR, THERE_AND_BACK, TREE
from lab.parallel.local_ranks import run_on_ranks

pytestmark = pytest.mark.slow

WORLD_SIZES = range(1, 9)
# empty, fewer than ranks, primes, divisible by every number of ranks
LENGTHS = (0, 1, 2, 7, 13, 840, 10_007)
COUNTED = 840
SHAPES = ((3, 2), (0,), (), (2, 4, 3, 3))


def in_order(values: list[Tensor]) -> Tensor:
    total = values[0].clone()
    for value in values[1:]:
        total += value
    return total


def around_the_ring(values: list[Tensor]) -> Tensor:
    n = len(values)
    chunks = [value.tensor_split(n) for value in values]
    return torch.cat([in_order([chunks[(c + i) % n][c] for i in range(n)]) for c in range(n)])


def neighbours_first(values: list[Tensor]) -> Tensor:
    while len(values) > 1:
        values = [in_order(values[i : i + 2]) for i in range(0, len(values), 2)]
    return values[0]


def partners_first(values: list[Tensor]) -> Tensor:
    m = 1 << (len(values).bit_length() - 1)
    return neighbours_first([in_order(values[r::m]) for r in range(m)])


ORDERS: dict[str, Callable[[list[Tensor]], Tensor]] = {
    STAR: in_order,
    RING: around_the_ring,
    TREE: neighbours_first,
    HALVING_DOUBLING: partners_first,
}


def numbers(rank: int, shape: tuple[int, ...], whole: bool) -> Tensor:
    generator = torch.Generator().manual_seed(100 * rank + len(shape))
    if whole:
        return torch.randint(-1000, 1000, shape, generator=generator).float()
    return torch.randn(shape, generator=generator)


def everywhere(ranks: Ranks, mine: bool) -> bool:
    flag = torch.tensor(int(mine))
    dist.all_reduce(flag, dist.ReduceOp.MIN, ranks.group)
    return bool(flag)


def sums(name: str, algorithm: Algorithm, ranks: Ranks, length: int) -> dict[str, bool]:
    """Return whether whole numbers sum exactly, and others bit-for-bit in the documented order.

    The library documents no order: its sums may differ by rounding.
    """
    n = ranks.world_size
    whole, real = numbers(ranks.rank, (length,), True), numbers(ranks.rank, (length,), False)
    algorithm(whole, ranks)
    algorithm(real, ranks)
    exact = torch.equal(whole, in_order([numbers(r, (length,), True) for r in range(n)]))
    values = [numbers(r, (length,), False) for r in range(n)]
    if name in ORDERS:
        ordered = torch.equal(real, ORDERS[name](values))
    else:
        ordered = torch.allclose(real, in_order(values), atol=1e-5)
    return {"exact": everywhere(ranks, exact), "ordered": everywhere(ranks, ordered)}


def sent(algorithm: Algorithm, ranks: Ranks) -> dict[str, float]:
    before = torch.tensor([ranks.messages_sent, ranks.bytes_sent])
    algorithm(torch.ones(COUNTED), ranks)
    mine = torch.tensor([ranks.messages_sent, ranks.bytes_sent]) - before
    total, most = mine.clone(), mine.clone()
    dist.all_reduce(total, group=ranks.group)
    dist.all_reduce(most, dist.ReduceOp.MAX, ranks.group)
    return {"messages": int(total[0]), "bytes": int(total[1]), "most_bytes": int(most[1])}


def lists(ranks: Ranks) -> bool:
    """Return whether every algorithm sums odd shapes and layouts right, in both groupings."""
    right = []
    for algorithm in ALGORITHMS.values():
        for grouping in (per_tensor, in_one_bucket):
            tensors = [numbers(ranks.rank, shape, True) for shape in SHAPES]
            if grouping is in_one_bucket:
                tensors[-1] = tensors[-1].contiguous(memory_format=torch.channels_last)
            grouping(tensors, algorithm, ranks)
            expected = [
                in_order([numbers(r, s, True) for r in range(ranks.world_size)]) for s in SHAPES
            ]
            right.append(all(map(torch.equal, tensors, expected)))
    return everywhere(ranks, all(right))


def probes(ranks: Ranks) -> bool:
    """Return whether rank 0 gets its message back and adding changes only the second half."""
    tensor = torch.arange(5.0) + 10 * (ranks.rank > 0)
    PROBES[THERE_AND_BACK](tensor, ranks)
    expected = torch.arange(5.0) + 10 * (ranks.rank > 1)
    added = torch.arange(4.0)
    PROBES[ADDING](added, ranks)
    return everywhere(ranks, torch.equal(tensor, expected) and added.tolist() == [0, 1, 2, 4])


def keeps_memory(ranks: Ranks) -> bool:
    """Return whether memory is reused for smaller buckets, not for larger ones or other types."""
    floats, doubles = torch.ones(1), torch.ones(1).double()
    first = ranks.memory("a test", 8, floats)
    smaller = ranks.memory("a test", 4, floats)
    other = ranks.memory("a test", 4, doubles)
    larger = ranks.memory("a test", 16, doubles)
    same = smaller.data_ptr() == first.data_ptr()
    return same and (len(smaller), other.dtype, len(larger)) == (4, torch.float64, 16)


BY_HAND = sorted(ORDERS)


def of_one_rank(device: torch.device) -> dict[int, dict[str, Any]]:
    found: dict[int, dict[str, Any]] = {}
    groups = {n: dist.new_group(list(range(n))) for n in WORLD_SIZES}
    for n in [n for n in WORLD_SIZES if dist.get_rank() < n]:
        ranks = Ranks(groups[n])
        of_all = {
            name: {
                "sums": {length: sums(name, algorithm, ranks, length) for length in LENGTHS},
                "sent": sent(algorithm, ranks),
            }
            for name, algorithm in ALGORITHMS.items()
        }
        found[n] = {
            "algorithms": of_all,
            "lists": lists(ranks),
            "probes": n == 1 or probes(ranks),
            "memory": keeps_memory(ranks),
        }
    return found


@pytest.fixture(scope="module")
def found():
    """Return what eight ranks, and groups of fewer of them, found."""
    world_size = max(WORLD_SIZES)
    devices = Devices("cpu-virtual", [torch.device("cpu")] * world_size, 1)
    return run_on_ranks(world_size, devices, of_one_rank)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_sums_are_exact_and_in_the_documented_order_on_all_ranks(found, name):
    assert set(found) == set(WORLD_SIZES)
    for n, facts in found.items():
        sums = facts["algorithms"][name]["sums"]
        assert len(sums) == len(LENGTHS)
        for length, result in sums.items():
            assert result == {"exact": True, "ordered": True}, (n, length)


@pytest.mark.parametrize("name", BY_HAND)
def test_ranks_send_what_the_cost_model_counts(found, name):
    num_bytes = 4 * COUNTED
    for n, facts in found.items():
        sent = facts["algorithms"][name]["sent"]
        all_of_it = cost_model.allreduce_path(name, n, 1, num_bytes, shared=True)
        assert sent["most_bytes"] == pytest.approx(
            cost_model.bytes_sent(name, n, num_bytes), abs=1e-6
        ), n
        assert (sent["messages"], sent["bytes"]) == (all_of_it.messages, all_of_it.sent_bytes), n


def test_lists_are_summed_tensor_by_tensor_and_in_one_bucket(found):
    assert all(facts["lists"] for facts in found.values())


def test_memory_is_reused_for_the_next_sum(found):
    assert all(facts["memory"] for facts in found.values())


def test_the_probes_do_what_they_say(found):
    assert all(facts["probes"] for facts in found.values())
