"""One flat bucket for all gradients, compared with the notes' tensor-by-tensor sum."""

from functools import partial

import pytest
import torch
from torch import Tensor, nn

from lab.nets.models import MODELS, UInt8Input
from lab.parallel.flat_bucket import FlatBuckets
from lab.parallel.replicas import replicate, sum_gradients, train_batch
from lab.parallel.workers import thread_pool
from lab.training.update_steps import updates_of
from tests.helpers import recipe
from tests.oracle import assert_same

pytestmark = pytest.mark.usefixtures("one_thread")
CPU = torch.device("cpu")
LENET, CONVNET = "lenet_he", "convnet_deep"  # the latter with batch norm, weights channels-last


def net_of(name: str) -> nn.Module:
    return UInt8Input(MODELS[name](torch.Generator().manual_seed(0)))


def batch(size: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    X = torch.randint(0, 256, (size, 28, 28), dtype=torch.uint8, generator=generator)
    return X, torch.randint(0, 10, (size,), generator=generator)


def combine_of(nets, in_buckets):
    return FlatBuckets(nets).sum_gradients if in_buckets else partial(sum_gradients, nets)


def trained(name, devices, in_buckets, updates=None):
    """Return replicas after three batches: even, uneven and, on eight devices, empty shards."""
    nets = [replicate(net_of(name), device) for device in devices]
    combine = combine_of(nets, in_buckets)
    with thread_pool(len(devices), 1) as pool:
        for seed, size in enumerate((19, 16, 5)):
            X, y = (tensor.to(devices[0]) for tensor in batch(size, seed))
            train_batch(X, y, nets, devices, 0.1, pool, combine, updates)
    return nets


@pytest.mark.parametrize(("name", "count"), [(LENET, 1), (CONVNET, 2), (LENET, 3), (LENET, 8)])
def test_training_is_bit_for_bit_identical_to_the_star(name, count):
    star, bucket = (trained(name, [CPU] * count, which) for which in (False, True))
    for ours, theirs in zip(bucket, star, strict=True):
        assert_same(ours, theirs)
        assert_same(ours, bucket[0])


def test_stateful_updates_do_not_see_the_next_sum():
    """Their averages come from gradients in memory that the next sum overwrites."""
    star, bucket = (
        trained(
            LENET,
            [CPU] * 2,
            which,
            [updates_of(net_of(LENET), recipe(optimizer="nesterov")) for _ in "ab"],
        )
        for which in (False, True)
    )
    assert_same(bucket[0], star[0])


@pytest.mark.gpu
@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="fewer than two CUDA GPUs")
def test_two_gpus_are_bit_for_bit_identical_to_the_star(monkeypatch):
    monkeypatch.setattr(torch.backends.cudnn, "deterministic", True)
    gpus = [torch.device("cuda", i) for i in range(2)]
    star, bucket = (trained(CONVNET, gpus, which) for which in (False, True))
    for ours, theirs in zip(bucket, star, strict=True):
        assert_same(ours, theirs)
        assert_same(ours.cpu(), bucket[0].cpu())
