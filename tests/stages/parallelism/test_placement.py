"""Every kind of parallelism on GPUs that are none: devices meet in copies alone."""

import pytest
import torch

from lab.nets.models import MODELS
from lab.parallel.device_workers import thread_pool
from stages.parallelism.measure.data_parallel import DataParallel
from stages.parallelism.measure.layers import lenet_layers
from stages.parallelism.measure.pipeline import in_parts
from stages.parallelism.measure.step import train
from stages.parallelism.measure.tensor_parallel import TensorParallel
from stages.parallelism.measure.wires import Wires
from tests.lab.parallel.placed import HOST, OnGpus, crossed

KINDS = {"data": DataParallel, "tensor": TensorParallel, "pipeline": in_parts(3)}


def gradients_of_two_steps(kind, devices):
    """The gradients before and after an update."""
    net = lenet_layers(MODELS["lenet_he"](torch.Generator().manual_seed(0)))
    generator = torch.Generator().manual_seed(1)
    X = torch.rand(13, 1, 28, 28, generator=generator)
    y = torch.randint(0, 10, (13,), generator=generator)
    with thread_pool(len(devices), 1) as pool:
        placed = kind(net, devices, pool)
        train(placed, X, y, 0.1, pool)
        placed.take_gradient(X, y, Wires())
        return placed.gradients()


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_devices_meet_in_copies_and_find_the_gradient_of_virtual_ones(kind, count, one_thread):
    crossed.clear()
    with OnGpus():
        found = gradients_of_two_steps(kind, [torch.device("cuda", i) for i in range(count)])
    assert crossed
    expected = gradients_of_two_steps(kind, [HOST] * count)
    assert all(torch.equal(g.content, h) for g, h in zip(found, expected, strict=True))
