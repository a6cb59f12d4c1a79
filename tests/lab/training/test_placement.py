"""Whole training on GPUs that are none: every operation takes tensors of one device, or copies."""

from functools import partial

import pytest
import torch
from torch.cuda import nccl

from lab.data import synthetic
from lab.nets.models import MODELS, UInt8Input
from lab.parallel.flat_bucket import FlatBuckets
from lab.parallel.replicas import replicate, sgd, sum_gradients, train_batch
from lab.parallel.workers import thread_pool
from lab.timing import clock
from lab.training.loop import train
from lab.training.steps import Stepper
from lab.training.strategies.replicas import Replicas
from tests.helpers import recipe
from tests.lab.parallel.placed import HOST, OnGpus, crossed

IMAGES, LABELS = map(torch.from_numpy, synthetic.fashion(24, 0))
TRAIN, TEST = (IMAGES, LABELS.long()), (IMAGES[:10], LABELS[:10].long())
PLAIN = recipe(batch_size=16, lr=0.1, num_epochs=1, augment="shift")
DECAYED = PLAIN.but(momentum=0.9, weight_decay=0.1)


def gpus(count):
    return [torch.device("cuda", i) for i in range(count)]


@pytest.fixture
def on_gpus(monkeypatch, one_thread):
    """Where GPUs can be asked for."""
    monkeypatch.setattr(clock, "synchronize", lambda devices: None)  # no kernel is still running
    monkeypatch.setattr(nccl, "is_available", lambda tensors: False)  # as between GPUs of a laptop
    crossed.clear()
    with OnGpus():
        yield


def run(devices, name, recipe):
    """What a run of training finds, and its weights and running statistics."""
    strategy = Replicas(MODELS[name](torch.Generator().manual_seed(0)), devices, recipe)
    stepper = Stepper(strategy, TRAIN)
    epochs = [progress.epochs[-1] for progress in train(stepper, TEST, seed=0)]
    state = strategy.state()
    strategy.close()
    buffers = [buffer for of_net in state["buffers"] for buffer in of_net.values()]
    found = [(epoch.train_loss, epoch.test_accuracy) for epoch in epochs]
    return found, [*state["params"].values(), *buffers]


@pytest.mark.parametrize("count", [2, 8])
@pytest.mark.parametrize(("name", "recipe"), [("lenet_he", PLAIN), ("convnet", DECAYED)])
def test_training_crosses_devices_only_in_copies_and_finds_what_virtual_devices_find(
    on_gpus, name, recipe, count
):
    """From the first step to the predictions, with shards of two images and of one."""
    found, weights = run(gpus(count), name, recipe)
    assert crossed
    expected, same_weights = run([HOST] * count, name, recipe)
    assert found == expected
    assert all(map(torch.equal, weights, same_weights))


def step(nets, combine=None, update=sgd):
    """Take a step on as many GPUs as there are nets."""
    devices = gpus(len(nets))
    X, y = (tensor[:19].to(devices[0]) for tensor in TRAIN)
    crossed.clear()
    with thread_pool(len(nets), 1) as pool:
        train_batch(X, y, nets, devices, 0.1, pool, combine, [update] * len(nets))


def nets_on_gpus(count, name="lenet"):
    net = UInt8Input(MODELS[name](torch.Generator().manual_seed(0)))
    return [replicate(net, device) for device in gpus(count)]


@pytest.mark.parametrize("count", [2, 8])
def test_a_step_copies_to_and_from_the_first_gpu_alone(on_gpus, count):
    """Images, labels, and gradients there and back: eight tensors of them, or one bucket."""
    for in_buckets, tensors in ((False, 8), (True, 1)):
        nets = nets_on_gpus(count)
        step(nets, FlatBuckets(nets).sum_gradients if in_buckets else None)
        first, *others = gpus(count)
        assert crossed == {
            **{(first, other): 2 + tensors for other in others},
            **{(other, first): tensors for other in others},
        }


def forgets_to_copy(data):
    """An all-reduce that works on virtual devices only."""
    for other in data[1:]:
        data[0].add_(other)
    for other in data[1:]:
        other.copy_(data[0])


class KeepsAPlainTensor(UInt8Input):
    """A net with a tensor that does not move with it."""

    def __init__(self, net):
        super().__init__(net)
        self.mean = torch.full((1, 28, 28), 7, dtype=torch.uint8)

    def forward(self, images):
        return super().forward(images - self.mean)


def test_defects_that_virtual_devices_do_not_show_are_seen(on_gpus):
    nets = nets_on_gpus(2)
    with pytest.raises(AssertionError, match=r"aten\.add_.* takes tensors of cuda:0, cuda:1"):
        step(nets, partial(sum_gradients, nets, forgets_to_copy))
    plain = KeepsAPlainTensor(MODELS["lenet"](torch.Generator().manual_seed(0)))
    with pytest.raises(AssertionError, match=r"aten\.sub.* takes tensors of cuda:\d, cpu"):
        step([replicate(plain, device) for device in gpus(2)])
    nets = nets_on_gpus(2)
    firsts = list(nets[0].parameters())

    def by_the_first(params, lr, batch_size):
        for param, first in zip(params, firsts, strict=True):
            param.grad.add_(first.detach())

    with pytest.raises(AssertionError, match="takes tensors of cuda:1, cuda:0"):
        step(nets, update=by_the_first)
