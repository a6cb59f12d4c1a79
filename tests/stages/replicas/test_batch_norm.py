"""Batch norm on several devices: which of a replica's numbers stay the same, and which do not."""

import pytest
import torch

from lab.data import synthetic
from lab.parallel.replicas import forward_backward, sum_gradients
from stages.replicas.measure.batch_norm import gradient, lenet_with_batch_norm, sum_all_but_norms
from stages.replicas.measure.by_hand import step
from stages.replicas.measure.training_variants import lenet


def batch():
    images, labels = synthetic.fashion(8, 0)
    return torch.from_numpy(images), torch.from_numpy(labels.astype("int64"))


def is_norm(name, net):
    return "running_mean" in dict(net.get_submodule(name.rpartition(".")[0]).named_buffers())


@pytest.mark.parametrize("count", [2, 4])
def test_without_batch_norm_the_gradient_is_that_of_one_device(count):
    X, y = batch()
    net = lenet(0)
    whole = gradient(net, X, y, 1)
    assert (gradient(net, X, y, count) - whole).norm() < 1e-5 * whole.norm()


def test_with_batch_norm_it_is_not():
    X, y = batch()
    net = lenet_with_batch_norm(0)
    whole = gradient(net, X, y, 1)
    assert (gradient(net, X, y, 2) - whole).norm() > 0.01 * whole.norm()


@pytest.mark.parametrize(
    ("combine", "own"), [(sum_gradients, False), (sum_all_but_norms, True)], ids=["local", "own"]
)
def test_replicas_share_all_parameters_or_all_but_those_of_batch_norm(combine, own):
    X, y = batch()
    nets = [lenet_with_batch_norm(0) for _ in range(2)]
    step(nets, X, y, 0.1, combine)
    for (name, p), q in zip(nets[0].named_parameters(), nets[1].parameters(), strict=True):
        assert torch.equal(p, q) == (not (own and is_norm(name, nets[0]))), name


def test_batch_norm_of_a_devices_own_takes_the_step_of_the_devices_own_images():
    X, y = batch()
    nets, alone = [lenet_with_batch_norm(0) for _ in range(2)], lenet_with_batch_norm(0)
    step(nets, X, y, 0.1, sum_all_but_norms)
    forward_backward(alone, X[:4], y[:4])
    start = dict(lenet_with_batch_norm(0).named_parameters())
    for (name, p), q in zip(nets[0].named_parameters(), alone.parameters(), strict=True):
        if is_norm(name, nets[0]):
            torch.testing.assert_close(p, start[name] - 0.1 / 4 * q.grad)
