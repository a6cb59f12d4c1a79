"""One flat bucket for all gradients, against the notes' sum tensor by tensor."""

from functools import partial

import pytest
import torch
from torch import nn
from torch.cuda import nccl
from torch.utils._python_dispatch import TorchDispatchMode

from lab.nets.models import MODELS, OnBytes
from lab.optim.update_rules import nesterov
from lab.parallel.device_workers import thread_pool
from lab.parallel.flat_bucket import FlatBuckets
from lab.parallel.replicas import forward_backward, replicate, sum_gradients, train_batch
from lab.training.update_steps import RuleUpdates
from tests.lab.parallel.placed import HOST, OnGpus

NETS = ("lenet_he", "convnet_deep")  # the latter with batch norm, its weights channels-last


def net_of(name):
    return OnBytes(MODELS[name](torch.Generator().manual_seed(0)))


def batch(size, seed=0):
    generator = torch.Generator().manual_seed(seed)
    X = torch.randint(0, 256, (size, 28, 28), dtype=torch.uint8, generator=generator)
    return X, torch.randint(0, 10, (size,), generator=generator)


def trained(name, devices, in_buckets, updates=None, sizes=(19, 16, 5)):
    """Replicas after steps on batches of these sizes."""
    nets = [replicate(net_of(name), device) for device in devices]
    combine = FlatBuckets(nets).sum_gradients if in_buckets else partial(sum_gradients, nets)
    with thread_pool(len(devices), 1) as pool:
        for seed, size in enumerate(sizes):
            X, y = (tensor.to(devices[0]) for tensor in batch(size, seed))
            train_batch(X, y, nets, devices, 0.1, pool, combine, updates)
    return nets


def assert_same(nets, others):
    for net, other in zip(nets, others, strict=True):
        for p, q in zip(net.parameters(), other.parameters(), strict=True):
            assert torch.equal(p, q)


@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_training_has_the_stars_bits_also_with_uneven_and_empty_shards(count, one_thread):
    for name in NETS if count < 3 else NETS[:1]:
        star, bucket = (trained(name, [HOST] * count, which) for which in (False, True))
        assert_same(bucket, star)
        assert_same(bucket[1:], bucket[:-1])


def test_updates_that_keep_a_state_do_not_see_the_next_sum(one_thread):
    """Their averages are made of gradients, whose memory the next sum overwrites."""

    def momentum():
        return [RuleUpdates(partial(nesterov, beta=0.9)) for _ in range(2)]

    star, bucket = (trained(NETS[0], [HOST] * 2, which, momentum()) for which in (False, True))
    assert_same(bucket, star)


def test_gradients_lie_as_their_parameters_do_and_where_the_last_ones_lay():
    nets = [net_of("convnet_deep") for _ in range(2)]
    buckets, addresses = FlatBuckets(nets), []
    for seed in range(2):
        for net in nets:
            forward_backward(net, *batch(2, seed))
        buckets.sum_gradients()
        params = [p for net in nets for p in net.parameters()]
        assert all(p.grad.stride() == p.stride() for p in params)
        addresses.append([p.grad.data_ptr() for p in params])
        for p in params:
            p.grad = None
    assert addresses[0] == addresses[1]


class Calls(TorchDispatchMode):
    """Counts the calls of operations that are no views."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.count += not function.is_view
        return function(*args, **(kwargs or {}))


def calls_to_sum(name, count, in_buckets):
    nets = [net_of(name) for _ in range(count)]
    combine = FlatBuckets(nets).sum_gradients if in_buckets else partial(sum_gradients, nets)
    for net in nets:
        forward_backward(net, *batch(2))
    with Calls() as calls:
        combine()
    return calls.count


@pytest.mark.parametrize("name", NETS)
def test_a_bucket_never_takes_more_operations(name):
    """On GPUs the star takes a third one for each tensor and other replica: its copy."""
    tensors = len(list(net_of(name).parameters()))
    for n in (1, 2, 8):
        assert calls_to_sum(name, n, in_buckets=False) == 2 * (n - 1) * tensors
        assert calls_to_sum(name, n, in_buckets=True) == (n + 2 * (n - 1) if n > 1 else 0)


@pytest.mark.parametrize("views", [False, True])
def test_autograd_would_add_to_views_tensor_by_tensor(views):
    """It hands a gradient over where there is none: one copy into the bucket is the cheaper way."""
    net = net_of("lenet")
    for p in net.parameters() if views else ():
        p.grad = torch.zeros_like(p)
    X, y = batch(2)
    loss = nn.functional.cross_entropy(net(X), y)
    with torch.profiler.profile() as profile:
        loss.backward()
    added = sum(event.key == "aten::add_" for event in profile.events())
    assert added == (len(list(net.parameters())) if views else 0)


def test_between_gpus_nccl_sums_all_gradients_at_once(monkeypatch, one_thread):
    """Each GPU's whole bucket, once a step; what follows is what follows on the processor."""
    handed = []

    def all_reduce(buckets):
        handed.append([bucket.device for bucket in buckets])
        total = torch.stack([bucket.content for bucket in buckets]).sum(0)
        for bucket in buckets:
            assert bucket.is_contiguous()
            bucket.content.copy_(total)

    monkeypatch.setattr(nccl, "is_available", lambda buckets: True)
    monkeypatch.setattr(nccl, "all_reduce", all_reduce)
    monkeypatch.delenv("NCCL_SOCKET_IFNAME", raising=False)
    gpus = [torch.device("cuda", i) for i in range(2)]
    with OnGpus():
        placed = trained("convnet_deep", gpus, in_buckets=True)
    assert handed == [gpus] * 3
    for net, other in zip(placed, trained("convnet_deep", [HOST] * 2, False), strict=True):
        for p, q in zip(net.parameters(), other.parameters(), strict=True):
            assert torch.equal(p.content, q)


@pytest.mark.gpu
@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="fewer than two CUDA GPUs")
def test_two_gpus_have_the_stars_bits():
    gpus = [torch.device("cuda", i) for i in range(2)]
    torch.backends.cudnn.deterministic = True
    star, bucket = (trained("convnet_deep", gpus, which) for which in (False, True))
    assert_same(bucket, star)
    for p, q in zip(*(net.parameters() for net in bucket), strict=True):
        assert torch.equal(p.cpu(), q.cpu())
