"""Steps whose buckets are summed at once, last, or never: what they sum, and when.

Two real ranks; the gradients are compared with those of replicas in one process.
"""

import pytest
import torch
import torch.distributed as dist
from torch import nn

from lab.machine.devices import Devices
from lab.parallel.local_ranks import run_on_ranks
from lab.parallel.replicas import forward_backward, sgd
from stages.bench_buckets.measure import hooked
from stages.bench_buckets.measure.hooked import Bucketed
from stages.bench_buckets.measure.names import AT_LAST, AT_ONCE, COMPUTING

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
        replica = Bucketed(module, SMALL, device)
        replica.step(when, *mine)
        told[when] = weights(module)
    module = net()
    replica = Bucketed(module, SMALL, device)
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
    hooked.dist.all_reduce = noted
    try:
        for when in (AT_ONCE, AT_LAST, COMPUTING):
            events.clear()
            replica.step(when, *mine)
            told[f"events {when}"] = list(events)
    finally:
        hooked.dist.all_reduce = allreduce
    return told


@pytest.fixture(scope="module")
def told():
    return run_on_ranks(2, TWO, steps)


def test_gradients_are_those_of_replicas_whenever_they_are_summed(told):
    both, alone = net(), net()
    for rank in (0, 1):
        forward_backward(both, *batch(rank))
    sgd(both.parameters(), hooked.LR, 8)
    forward_backward(alone, *batch(0))
    sgd(alone.parameters(), hooked.LR, 8)
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
