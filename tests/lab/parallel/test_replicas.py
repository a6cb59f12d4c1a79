import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from lab.nets.models import LeNet
from lab.parallel import replicas
from lab.parallel.workers import thread_pool
from tests.oracle import assert_close, assert_same, gradients, one_device

CPU = torch.device("cpu")
ROUNDING = {"rtol": 1e-12, "atol": 1e-13}  # of float64


def linear(seed: int = 0) -> nn.Module:
    net = nn.Sequential(nn.Flatten(), nn.Linear(16, 10, dtype=torch.float64))
    nn.init.normal_(net[1].weight, generator=torch.Generator().manual_seed(seed))
    return net


def lenet() -> nn.Module:
    return LeNet(torch.Generator().manual_seed(0), he=True)


def batch_norm_net() -> nn.Module:
    torch.manual_seed(0)
    layers = nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.Flatten(), nn.Linear(12, 10)
    return nn.Sequential(*layers).double()


def batch(
    count: int, seed: int = 0, side: int = 4, dtype: torch.dtype = torch.float64
) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    X = torch.rand(count, 1, side, side, generator=generator, dtype=dtype)
    return X, torch.randint(0, 10, (count,), generator=generator)


def images(count: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    return batch(count, seed, 28, torch.float32)


def step(nets, X, y, lr=0.2, allreduce=replicas.allreduce):
    """Take one step, each net on its own virtual device; return the losses."""
    with thread_pool(len(nets), 1) as pool:
        return replicas.train_batch(
            X, y, nets, [CPU] * len(nets), lr, pool, lambda: replicas.sum_gradients(nets, allreduce)
        )


def copies(net: nn.Module, count: int) -> list[nn.Module]:
    return [replicas.replicate(net, CPU) for _ in range(count)]


def test_a_replica_is_a_copy_even_on_the_same_device():
    net = linear()
    [replica] = copies(net, 1)
    with torch.no_grad():
        replica[1].weight.zero_()
    assert net[1].weight.any()
    assert all(p.requires_grad and p.is_leaf and p.grad is None for p in replica.parameters())


@given(st.integers(1, 8), st.integers(0, 40))
def test_allreduce_leaves_the_sum_everywhere(count, size):
    """It works in place: a gradient must stay the parameter's own tensor."""
    data = [torch.arange(size, dtype=torch.float64) * (i + 1) for i in range(count)]
    expected = torch.stack(data).sum(0)
    before = [tensor.data_ptr() for tensor in data]
    replicas.allreduce(data)
    assert all(torch.equal(tensor, expected) for tensor in data)
    assert [tensor.data_ptr() for tensor in data] == before


@given(st.integers(0, 30), st.integers(1, 8))
def test_a_batch_is_split_as_evenly_as_possible(n, num_devices):
    X, y = torch.arange(2 * n).reshape(n, 2), torch.arange(n)
    X_shards, y_shards = replicas.split_batch(X, y, [CPU] * num_devices)
    assert torch.equal(torch.cat(X_shards), X)
    assert torch.equal(torch.cat(y_shards), y)
    sizes = [len(shard) for shard in X_shards]
    assert len(sizes) == num_devices
    assert max(sizes) - min(sizes) <= 1


@settings(max_examples=60)
@given(st.integers(1, 8), st.integers(1, 23), st.integers(0, 5))
def test_a_step_on_several_devices_equals_a_step_on_one(num_devices, n, seed):
    """Also with uneven and empty shards."""
    net, (X, y) = linear(seed), batch(n, seed)
    nets = copies(net, num_devices)
    losses = step(nets, X, y)
    for replica in nets:
        assert_close(replica, one_device(net, [(X, y)], 0.2), **ROUNDING)
        assert all(p.grad is None for p in replica.parameters())
    whole = F.cross_entropy(net(X), y, reduction="sum")
    torch.testing.assert_close(torch.stack(losses).sum(), whole, **ROUNDING)


@pytest.mark.parametrize("num_devices", [2, 3])
def test_lenet_on_several_devices_trains_as_on_one(num_devices):
    nets, batches = copies(lenet(), num_devices), [images(17, seed) for seed in range(4)]
    for X, y in batches:
        step(nets, X, y)
        for replica in nets[1:]:
            assert_same(replica, nets[0])
    assert_close(nets[0], one_device(lenet(), batches, 0.2), rtol=1e-4, atol=1e-5)


def test_rebinding_allreduce_lets_replicas_drift_apart():
    """The notes' broken version: only replica 0, which is evaluated, ever sees the sum."""
    nets, apart = copies(lenet(), 2), []
    for seed in range(4):
        step(nets, *images(32, seed), allreduce=replicas.rebinding_allreduce)
        pairs = zip(*(net.parameters() for net in nets), strict=True)
        apart.append(max(float((p - q).detach().abs().max()) for p, q in pairs))
    assert 0 < apart[0] < apart[-1]


def test_batch_norm_sees_each_shard_separately():
    """Two devices equal one with ghost batches (Hoffer et al. 2017), not with plain batch norm."""
    net, (X, y) = batch_norm_net(), batch(12)
    nets = copies(net, 2)
    step(nets, X, y, lr=1.0)
    ghosts = [gradients(net, X[rows], y[rows]) for rows in (slice(6), slice(6, 12))]
    for p, new, a, b in zip(net.parameters(), nets[0].parameters(), *ghosts, strict=True):
        torch.testing.assert_close(new, p - (a + b) / 2, **ROUNDING)
    plain = one_device(net, [(X, y)], 1.0)
    assert not torch.allclose(nets[0][0].weight, plain[0].weight)
    assert not torch.equal(nets[0][1].running_mean, nets[1][1].running_mean)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA GPU")
def test_a_step_on_a_gpu_matches_a_step_on_the_cpu():
    gpu = torch.device("cuda", 0)
    X, y = images(96)
    nets = [replicas.replicate(lenet(), gpu) for _ in range(2)]
    with thread_pool(2, 1) as pool:
        replicas.train_batch(X.to(gpu), y.to(gpu), nets, [gpu, gpu], 0.2, pool)
    assert_close(nets[0].cpu(), one_device(lenet(), [(X, y)], 0.2), rtol=1e-2, atol=1e-3)
