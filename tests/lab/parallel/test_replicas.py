import copy
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from lab.nets.models import LeNet, to_float
from lab.parallel import replicas

CPU = torch.device("cpu")


def linear(seed=0, dtype=torch.float64):
    net = nn.Sequential(nn.Flatten(), nn.Linear(16, 10, dtype=dtype))
    nn.init.normal_(net[1].weight, generator=torch.Generator().manual_seed(seed))
    return net


def batch_norm_net():
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.Flatten(), nn.Linear(12, 10)
    ).double()


def lenet(scale=1.0):
    net = LeNet(torch.Generator().manual_seed(0))
    with torch.no_grad():
        for param in net.parameters():
            param.mul_(scale)
    return net


def batch(count, seed=0):
    generator = torch.Generator().manual_seed(seed)
    X = torch.randn(count, 1, 4, 4, generator=generator, dtype=torch.float64)
    return X, torch.randint(0, 10, (count,), generator=generator)


def fashion_like(count, seed=0):
    generator = torch.Generator().manual_seed(seed)
    X = to_float(torch.randint(0, 256, (count, 28, 28), dtype=torch.uint8, generator=generator))
    return X, torch.randint(0, 10, (count,), generator=generator)


def step(net, X, y, num_devices, lr=0.2):
    """Take one step on `num_devices` virtual devices and return the losses and the replicas."""
    devices = [CPU] * num_devices
    copies = [replicas.replicate(net, device) for device in devices]
    with ThreadPoolExecutor(num_devices) as pool:
        losses = replicas.train_batch(X, y, copies, devices, lr, pool)
    return losses, copies


def gradients(net, X, y, reduction="sum"):
    net = copy.deepcopy(net)
    F.cross_entropy(net(X), y, reduction=reduction).backward()
    return [p.grad for p in net.parameters()]


def drift(copies, batches, lr, allreduce=replicas.allreduce):
    """Yield the largest |W0 - Wk| of all weights after each step."""
    with ThreadPoolExecutor(len(copies)) as pool:
        for X, y in batches:
            combine = partial(replicas.sum_gradients, copies, allreduce)
            replicas.train_batch(X, y, copies, [CPU] * len(copies), lr, pool, combine)
            others = [
                p
                for net in copies[1:]
                for p in zip(copies[0].parameters(), net.parameters(), strict=True)
            ]
            yield max(float((p - q).detach().abs().max()) for p, q in others)


def test_a_replica_is_a_copy_even_on_its_own_device():
    net = linear()
    replica = replicas.replicate(net, CPU)
    with torch.no_grad():
        replica[1].weight.zero_()
    assert net[1].weight.any()
    assert all(p.requires_grad and p.is_leaf and p.grad is None for p in replica.parameters())


def test_moving_to_the_device_where_it_is_copies_nothing():
    """The notes' `get_params` without `.clone()`: on one device the replicas are one net."""
    net = linear()
    assert net.to(CPU) is net
    assert net[1].weight.to(CPU) is net[1].weight


@given(st.integers(1, 8), st.integers(0, 40))
def test_allreduce_leaves_the_sum_everywhere(count, size):
    data = [torch.arange(size, dtype=torch.float64) * (i + 1) for i in range(count)]
    expected = torch.stack(data).sum(0)
    before = [tensor.data_ptr() for tensor in data]
    replicas.allreduce(data)
    assert all(torch.equal(tensor, expected) for tensor in data)
    assert [tensor.data_ptr() for tensor in data] == before, (
        "in place: a gradient must stay the parameter's own"
    )


@pytest.mark.parametrize("allreduce", [replicas.allreduce, replicas.rebinding_allreduce])
def test_both_kinds_of_allreduce_print_the_notes_example(allreduce):
    data = [torch.ones(1, 2), torch.ones(1, 2) * 2]
    kept = data[1]
    allreduce(data)
    assert [tensor.tolist() for tensor in data] == [[[3, 3]], [[3, 3]]]
    assert kept.tolist() == ([[3, 3]] if allreduce is replicas.allreduce else [[2, 2]]), (
        "what a gradient would hold"
    )


@given(st.integers(0, 30), st.integers(1, 8))
def test_a_split_batch_is_the_batch_in_shards_as_even_as_can_be(n, num_devices):
    X, y = torch.arange(2 * n).reshape(n, 2), torch.arange(n)
    X_shards, y_shards = replicas.split_batch(X, y, [CPU] * num_devices)
    assert torch.equal(torch.cat(X_shards), X)
    assert torch.equal(torch.cat(y_shards), y)
    sizes = [len(shard) for shard in X_shards]
    assert len(sizes) == num_devices
    assert max(sizes) - min(sizes) <= 1


def test_a_batch_of_unequal_lengths_is_refused():
    with pytest.raises(ValueError, match="3 and 4"):
        replicas.split_batch(torch.zeros(3, 1), torch.zeros(4), [CPU])


@settings(max_examples=60)
@given(st.integers(1, 8), st.integers(1, 23), st.integers(0, 5))
def test_a_step_on_k_devices_is_the_step_on_one_also_with_uneven_or_empty_shards(
    num_devices, n, seed
):
    net, (X, y) = linear(seed), batch(n, seed)
    expected = [
        p - 0.2 * g for p, g in zip(net.parameters(), gradients(net, X, y, "mean"), strict=True)
    ]
    losses, copies = step(net, X, y, num_devices)
    for replica in copies:
        for p, q in zip(replica.parameters(), expected, strict=True):
            torch.testing.assert_close(p, q, rtol=1e-12, atol=1e-14)
            assert p.grad is None
    whole = F.cross_entropy(net(X), y, reduction="sum")
    torch.testing.assert_close(torch.stack(losses).sum(), whole, rtol=1e-12, atol=1e-12)


def test_averaging_each_shards_mean_is_another_gradient_where_shards_are_uneven():
    net, (X, y) = linear(), batch(7)
    whole = gradients(net, X, y, "mean")[0]
    shards = list(zip(X.tensor_split(2), y.tensor_split(2), strict=True))
    summed = sum(gradients(net, *shard)[0] for shard in shards) / len(X)
    averaged = sum(gradients(net, *shard, "mean")[0] for shard in shards) / len(shards)
    torch.testing.assert_close(summed, whole, rtol=1e-12, atol=1e-14)
    assert (averaged - whole).abs().max() > 1e-3
    even = sum(gradients(net, X[i : i + 3], y[i : i + 3], "mean")[0] for i in (0, 3)) / 2
    torch.testing.assert_close(
        even, gradients(net, X[:6], y[:6], "mean")[0], rtol=1e-12, atol=1e-14
    )


@pytest.mark.parametrize("num_devices", [2, 3, 8])
@pytest.mark.parametrize(
    "make", [lenet, lambda: nn.Sequential(nn.Flatten(), nn.BatchNorm1d(784), nn.Linear(784, 10))]
)
def test_replicas_stay_bitwise_equal_after_every_step(num_devices, make):
    net = make()
    copies = [replicas.replicate(net, CPU) for _ in range(num_devices)]
    apart = list(drift(copies, [fashion_like(17, i) for i in range(4)], 0.2))
    assert apart == [0, 0, 0, 0]
    assert not torch.equal(next(copies[0].parameters()), next(net.parameters()))


def test_rebinding_instead_of_adding_in_place_lets_the_replicas_drift_apart():
    """The notes' broken version: only replica 0, which is evaluated, ever sees the sum."""
    copies = [replicas.replicate(lenet(10), CPU) for _ in range(2)]
    apart = list(
        drift(copies, [fashion_like(32, i) for i in range(4)], 0.2, replicas.rebinding_allreduce)
    )
    assert 0 < apart[0] < apart[-1]


def test_replicas_that_share_their_weights_take_the_step_once_for_each():
    """Copying without `.clone()`: both "replicas" add to one gradient and sum it twice."""
    net, (X, y) = linear(), batch(8)
    _, [right, _] = step(net, X, y, 2)
    with (
        pytest.raises(AssertionError, match="every parameter takes part"),
        ThreadPoolExecutor(1) as pool,
    ):
        replicas.train_batch(X, y, [net, net], [CPU, CPU], 0.2, pool)
    assert not torch.allclose(net[1].weight, right[1].weight), (
        "the first step already used twice the gradient"
    )


def test_batch_norm_sees_each_shard_alone_and_one_device_sees_the_whole_batch():
    """So two devices are one with ghost batches (Hoffer et al. 2017), not with plain batch norm."""
    net, (X, y) = batch_norm_net(), batch(12)
    whole = gradients(net, X, y)
    ghosts = [
        gradients(net, *shard) for shard in zip(X.tensor_split(2), y.tensor_split(2), strict=True)
    ]
    _, [two, second] = step(net, X, y, 2, lr=1.0)
    for p, new, a, b in zip(net.parameters(), two.parameters(), *ghosts, strict=True):
        torch.testing.assert_close(new, p - (a + b) / 12, rtol=1e-12, atol=1e-13)
    differences = [
        ((p - q) * 12 - g).abs().max()
        for p, q, g in zip(net.parameters(), two.parameters(), whole, strict=True)
    ]
    assert max(differences) > 1e-2
    assert not torch.equal(two[1].running_mean, second[1].running_mean), (
        "statistics stay each device's own"
    )


@pytest.mark.parametrize("num_devices", [2, 3])
def test_one_step_of_lenet_on_several_devices_is_that_on_one_within_float_tolerance(num_devices):
    X, y = fashion_like(96)
    (_, [one]), (_, many) = (step(lenet(10), X, y, k) for k in (1, num_devices))
    for a, b in zip(one.parameters(), many[0].parameters(), strict=True):
        torch.testing.assert_close(a, b)  # float32: rtol 1.3e-6, atol 1e-5


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA GPU")
def test_a_step_on_a_gpu_is_the_step_on_the_cpu_within_tf32_tolerance():
    X, y = fashion_like(96)
    _, [expected] = step(lenet(10), X, y, 1)
    gpu = torch.device("cuda", 0)
    copies = [replicas.replicate(lenet(10), gpu) for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        replicas.train_batch(X.to(gpu), y.to(gpu), copies, [gpu, gpu], 0.2, pool)
    for a, b in zip(expected.parameters(), copies[0].parameters(), strict=True):
        torch.testing.assert_close(a, b.cpu(), rtol=1e-2, atol=1e-3)
