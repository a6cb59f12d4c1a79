"""What bench_buckets derives from times, and when its hooks sum."""

import pytest
import torch
import torch.distributed as dist
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from lab.machine.devices import Devices
from lab.parallel.local_ranks import run_on_ranks
from lab.parallel.replicas import forward_backward, sgd
from stages.bench_buckets.measure.exposed import SumCost, exposed_ms, fit_cost
from stages.bench_buckets.measure.names import AT_LAST, AT_ONCE, COMPUTING
from stages.bench_buckets.measure.overlap import LR, Replica
from tests.made_up import findings, measurements

FREE = SumCost(0, 0)


def test_a_sum_begins_when_its_bucket_is_full_and_the_one_before_has_ended():
    """Sums of 4 bytes take 3 ms: from 2 to 5, 5 to 8 (full at 4), and 10 to 13; the pass ends."""
    cost = SumCost(1, 0.5)
    assert exposed_ms([2, 4, 10], [4, 4, 4], cost, 10) == 3
    assert exposed_ms([2, 4, 6], [4, 4, 4], cost, 10) == 1, "three in a row, from 2 to 11"
    assert exposed_ms([2, 4], [4, 4], cost, 10) == 0
    assert exposed_ms([10], [12], cost, 10) == 7, "one bucket hides nothing"


SIZES = st.lists(st.floats(1, 1e6), min_size=1, max_size=8)


@given(SIZES, st.floats(0, 10), st.floats(0, 1e-3), st.data())
def test_what_is_exposed_lies_between_the_last_sum_and_all_sums(sizes, each, per_byte, data):
    cost, n = SumCost(each, per_byte), len(sizes)
    full = sorted(data.draw(st.lists(st.floats(0, 100), min_size=n, max_size=n)))
    exposed = exposed_ms(full, sizes, cost, full[-1])
    assert cost.ms(sizes[-1]) - 1e-6 <= exposed <= sum(map(cost.ms, sizes)) + 1e-6
    assert exposed_ms(full, sizes, FREE, full[-1]) == 0


@given(st.floats(0, 5), st.floats(1e-9, 1e-6), st.sets(st.integers(1, 60), min_size=2))
def test_the_cost_is_found_from_the_times_of_several_numbers_of_buckets(each, per_byte, counts):
    num_bytes = 44_703_272
    found = fit_cost(num_bytes, {n: each * n + per_byte * num_bytes for n in counts})
    assert found.each_ms == pytest.approx(each, abs=1e-6)
    assert found.ms_per_byte == pytest.approx(per_byte, rel=1e-4)


def test_a_cost_is_never_below_zero():
    """More buckets were faster: each is free, and the bytes take the mean of the times."""
    found = fit_cost(10, {1: 30.0, 2: 20.0})
    assert (found.each_ms, found.ms_per_byte) == (0, 2.5)
    found = fit_cost(10, {10: 10.0, 20: 30.0})
    assert (found.each_ms, found.ms_per_byte) == (700 / 500, 0)


def test_without_buckets_of_torchs_own_size_the_largest_are_told_of_and_no_claim_is_decided():
    made = measurements("bench_buckets", "cuda")
    found = findings("bench_buckets", made, "cuda")
    assert found["speedup"] == found["resnet18_overlap_speedup"]
    others = [m for m in made if m.x != 25]
    without = findings("bench_buckets", others, "cuda")
    assert not without["resnet18_overlap_speedup"]
    assert without["speedup"].value != found["speedup"].value
    assert without["could_overlap"]


CPU = torch.device("cpu")
TWO = Devices("cpu-virtual", [CPU, CPU], 1)
SMALL = 1e-5  # MiB: a gradient or two fill a bucket


def net() -> nn.Module:
    generator = torch.Generator().manual_seed(0)
    layers = nn.Sequential(nn.Flatten(), nn.Linear(784, 2), nn.ReLU(), nn.Linear(2, 10))
    for p in layers.parameters():
        nn.init.normal_(p, std=0.1, generator=generator)
    return layers


def batch(rank: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(rank + 1)
    X = torch.rand(4, 1, 28, 28, generator=generator)
    return X, torch.randint(10, (4,), generator=generator)


def weights(module: nn.Module) -> list[float]:
    numbers: list[float] = torch.cat([p.detach().flatten() for p in module.parameters()]).tolist()
    return numbers


def steps(device: torch.device) -> dict[str, object]:
    """What each way leaves, and in which order it is told that buckets are full and summed."""
    told: dict[str, object] = {}
    mine = batch(dist.get_rank())
    for when in (AT_ONCE, AT_LAST, COMPUTING):
        module = net()
        replica = Replica(module, SMALL, device)
        replica.step(when, *mine)
        told[when] = weights(module)
    module = net()
    replica = Replica(module, SMALL, device)
    buckets = replica.settle(*mine)
    told["parameters"] = [bucket.parameters for bucket in buckets]
    told["numbers"] = [len(bucket.numbers) for bucket in buckets]
    events: list[str] = []
    allreduce = dist.all_reduce

    def noted(*args, **kwargs):
        events.append("sum")
        return allreduce(*args, **kwargs)

    for name, p in module.named_parameters():
        p.register_post_accumulate_grad_hook(lambda _, name=name: events.append(name))
    dist.all_reduce = noted
    try:
        for when in (AT_ONCE, AT_LAST, COMPUTING):
            events.clear()
            replica.step(when, *mine)
            told[f"events {when}"] = list(events)
    finally:
        dist.all_reduce = allreduce
    return told


@pytest.fixture(scope="module")
def told():
    return run_on_ranks(2, TWO, steps)


def test_gradients_are_those_of_replicas_whenever_they_are_summed(told):
    both, alone = net(), net()
    for rank in (0, 1):
        forward_backward(both, *batch(rank))
    sgd(both.parameters(), LR, 8)
    forward_backward(alone, *batch(0))
    sgd(alone.parameters(), LR, 8)
    for when in (AT_ONCE, AT_LAST):
        assert told[when] == pytest.approx(weights(both), abs=1e-7)
    assert told[COMPUTING] == pytest.approx(weights(alone), abs=1e-7)
    assert weights(both) != pytest.approx(weights(alone), abs=1e-7)


def test_buckets_hold_every_gradient_once_from_the_last_layer_on(told):
    names = [name for bucket in told["parameters"] for name in bucket]
    assert sorted(names) == ["1.bias", "1.weight", "3.bias", "3.weight"]
    assert {name[0] for name in told["parameters"][0]} == {"3"}
    assert sum(told["numbers"]) == 784 * 2 + 2 + 2 * 10 + 10
    assert len(told["parameters"]) > 1


def test_at_once_a_sum_begins_before_the_pass_ends_and_at_last_after_it(told):
    at_once, at_last = told[f"events {AT_ONCE}"], told[f"events {AT_LAST}"]
    count = len(told["parameters"])
    assert at_once.count("sum") == at_last.count("sum") == count
    assert at_once.index("sum") < at_once.index("1.weight")
    assert at_last.index("sum") >= 3, "of four gradients, the last one may be noted behind its sum"
    assert "sum" not in told[f"events {COMPUTING}"]
