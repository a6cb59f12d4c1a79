"""Steps of real ranks, in one launch for all tests: their weights, and when they sum."""

import multiprocessing

import pytest
import torch
import torch.distributed as dist
from torch import nn

from lab.core.errors import LabError
from lab.machine.devices import Devices
from lab.parallel.collectives import ALGORITHMS, Ranks
from lab.parallel.local_ranks import run_on_ranks
from lab.parallel.replicas import forward_backward, sgd
from stages.scaling.measure.buckets import LR, BucketStep
from stages.scaling.measure.names import ALLREDUCES, AT_LAST, AT_ONCE, COMPUTING, WAITING
from stages.scaling.measure.ranks import check_sums, data_parallel_step

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
    """Return each variant's weights, and the order of ready gradients and summed buckets."""
    told: dict[str, object] = {}
    ranks, mine = Ranks(dist.group.WORLD), batch(dist.get_rank())
    check_sums(ranks, [4, 400], device)
    for name in (COMPUTING, WAITING, *ALLREDUCES):
        module = net()
        data_parallel_step(module, *mine, name, ranks)
        told[name] = weights(module)
    events: list[str] = []
    allreduce = dist.all_reduce

    def noted(*args, **kwargs):
        events.append("sum")
        return allreduce(*args, **kwargs)

    for when in (AT_LAST, AT_ONCE):
        module = net()
        step = BucketStep(when, SMALL, module)
        step(*mine, ranks)
        told[when] = weights(module)
        step(*mine, ranks)  # buckets follow the order in which gradients are ready
        for name, p in module.named_parameters():
            p.register_post_accumulate_grad_hook(lambda _, name=name: events.append(name))
        events.clear()
        dist.all_reduce = noted
        try:
            step(*mine, ranks)
        finally:
            dist.all_reduce = allreduce
        told[f"events {when}"] = list(events)
    return told


@pytest.fixture(scope="module")
def told():
    found = run_on_ranks(2, TWO, steps)
    assert not multiprocessing.active_children(), "no rank outlives its work"
    return found


def test_gradients_are_those_of_one_batch_however_they_are_summed(told):
    both, alone = net(), net()
    for rank in (0, 1):
        forward_backward(both, *batch(rank))
    sgd(both.parameters(), LR, 8)
    forward_backward(alone, *batch(0))
    sgd(alone.parameters(), LR, 8)
    for name in (*ALLREDUCES, AT_LAST, AT_ONCE):
        assert told[name] == pytest.approx(weights(both), abs=1e-7), name
    for name in (COMPUTING, WAITING):
        assert told[name] == pytest.approx(weights(alone), abs=1e-7), name
    assert weights(both) != pytest.approx(weights(alone), abs=1e-7)


def test_sums_after_the_backward_pass_begin_when_all_gradients_are_ready(told):
    """DDP's own sums begin during the pass, but in C++, where they are not seen here."""
    events = told[f"events {AT_LAST}"]
    assert events.count("sum") > 1
    assert events.index("sum") >= 3, "of four gradients, the last may be noted after its sum"
    assert "sum" not in told[f"events {AT_ONCE}"]


def wrong_in_the_last(device: torch.device) -> None:
    def almost(tensor: torch.Tensor, ranks: Ranks) -> None:
        dist.all_reduce(tensor, group=ranks.group)
        tensor += dist.get_rank()

    ALGORITHMS["almost"] = almost
    check_sums(Ranks(dist.group.WORLD), [400], device)


def test_a_sum_that_is_wrong_in_one_rank_ends_the_measurement():
    with pytest.raises(LabError, match=r"almost.*400 bytes among 2 ranks: wrong sum"):
        run_on_ranks(2, TWO, wrong_in_the_last)
