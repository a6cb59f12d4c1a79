from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from lab import nets, replicas

CPU = torch.device("cpu")


def linear(X, params):
    W, b = params
    return X.flatten(start_dim=1) @ W + b


def linear_params(seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(16, 10, generator=generator, dtype=dtype), torch.zeros(10, dtype=dtype)]


def batch(count, seed=0):
    generator = torch.Generator().manual_seed(seed)
    X = torch.randn(count, 1, 4, 4, generator=generator, dtype=torch.float64)
    return X, torch.randint(0, 10, (count,), generator=generator)


def step(net, params, X, y, num_devices, lr=0.2):
    """Take one step on `num_devices` virtual devices and return the losses and the replicas."""
    devices = [CPU] * num_devices
    device_params = [replicas.get_params(params, device) for device in devices]
    with ThreadPoolExecutor(num_devices) as pool:
        losses = replicas.train_batch(X, y, net, device_params, devices, lr, pool)
    return losses, device_params


def test_a_replica_is_a_copy_even_on_its_own_device():
    params = linear_params()
    replica = replicas.get_params(params, CPU)
    with torch.no_grad():
        replica[0].zero_()
    assert params[0].any()
    assert all(p.requires_grad and p.is_leaf and p.grad is None for p in replica)
    assert not any(p.requires_grad for p in params)


@given(st.integers(1, 8), st.integers(0, 40))
def test_allreduce_leaves_the_sum_everywhere(count, size):
    data = [torch.arange(size, dtype=torch.float64) * (i + 1) for i in range(count)]
    expected = torch.stack(data).sum(0)
    before = [tensor.data_ptr() for tensor in data]
    replicas.allreduce(data)
    assert all(torch.equal(tensor, expected) for tensor in data)
    assert [tensor.data_ptr() for tensor in data] == before, "in place: a gradient must stay the parameter's own"


def test_allreduce_is_the_notes_example():
    data = [torch.ones(1, 2), torch.ones(1, 2) * 2]
    replicas.allreduce(data)
    assert [tensor.tolist() for tensor in data] == [[[3, 3]], [[3, 3]]]


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
def test_a_step_on_k_devices_is_the_step_on_one_also_with_uneven_or_empty_shards(num_devices, n, seed):
    params, (X, y) = linear_params(seed), batch(n, seed)
    W, b = (p.clone().requires_grad_() for p in params)
    F.cross_entropy(linear(X, [W, b]), y).backward()  # the mean over the batch, by torch alone
    losses, device_params = step(linear, params, X, y, num_devices)
    for replica in device_params:
        torch.testing.assert_close(replica[0], params[0] - 0.2 * W.grad, rtol=1e-12, atol=1e-14)
        torch.testing.assert_close(replica[1], params[1] - 0.2 * b.grad, rtol=1e-12, atol=1e-14)
        assert all(p.grad is None for p in replica)
    expected = F.cross_entropy(linear(X, params), y, reduction="sum")
    torch.testing.assert_close(torch.stack(losses).sum(), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("num_devices", [2, 3, 8])
def test_replicas_stay_bitwise_equal_over_steps(num_devices):
    devices = [CPU] * num_devices
    params = nets.lenet_params(torch.Generator().manual_seed(0))
    device_params = [replicas.get_params(params, device) for device in devices]
    with ThreadPoolExecutor(num_devices) as pool:
        for i in range(4):
            X = nets.to_float(torch.randint(0, 256, (13, 28, 28), dtype=torch.uint8))
            y = torch.randint(0, 10, (13,), generator=torch.Generator().manual_seed(i))
            replicas.train_batch(X, y, nets.lenet, device_params, devices, 0.2, pool)
            for replica in device_params[1:]:
                assert all(torch.equal(p, q) for p, q in zip(device_params[0], replica, strict=True))
    assert not torch.equal(device_params[0][0], params[0])


@pytest.mark.parametrize("num_devices", [2, 3])
def test_one_step_of_lenet_on_several_devices_is_that_on_one_within_float_tolerance(num_devices):
    params = [p * 10 for p in nets.lenet_params(torch.Generator().manual_seed(0))]
    generator = torch.Generator().manual_seed(1)
    X = nets.to_float(torch.randint(0, 256, (96, 28, 28), dtype=torch.uint8, generator=generator))
    y = torch.randint(0, 10, (96,), generator=generator)
    (_, [one]), (_, many) = (step(nets.lenet, params, X, y, k) for k in (1, num_devices))
    for a, b in zip(one, many[0], strict=True):
        torch.testing.assert_close(a, b)  # float32: rtol 1.3e-6, atol 1e-5


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA GPU")
def test_a_step_on_a_gpu_is_the_step_on_the_cpu_within_tf32_tolerance():
    params = [p * 10 for p in nets.lenet_params(torch.Generator().manual_seed(0))]
    X = nets.to_float(torch.randint(0, 256, (96, 28, 28), dtype=torch.uint8))
    y = torch.randint(0, 10, (96,))
    _, [expected] = step(nets.lenet, params, X, y, 1)
    gpu = torch.device("cuda", 0)
    device_params = [replicas.get_params(params, gpu) for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        replicas.train_batch(X.to(gpu), y.to(gpu), nets.lenet, device_params, [gpu, gpu], 0.2, pool)
    for a, b in zip(expected, device_params[0], strict=True):
        torch.testing.assert_close(a, b.cpu(), rtol=1e-2, atol=1e-3)
