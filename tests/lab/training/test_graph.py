"""The step as a CUDA graph, on a GPU and without one."""

import pytest
import torch

from lab.data import synthetic
from lab.nets.models import MODELS, LeNet
from lab.training.steps import Stepper, prepare_process
from lab.training.strategies.graph import Graph
from lab.training.strategies.replicas import Replicas
from tests.helpers import recipe

CPU = torch.device("cpu")
IMAGES, LABELS = map(torch.from_numpy, synthetic.fashion(40, 0))
TRAIN = IMAGES, LABELS.long()
BATCH = 16  # two of them, and one of 8
LR = 0.1
PLAIN = recipe(batch_size=BATCH, lr=LR)


def net_of(name):
    return MODELS[name](torch.Generator().manual_seed(0))


def trained(strategy, epochs=2, variants=False):
    """All losses of some epochs, each in another order, and the state at the end."""
    stepper, losses = Stepper(strategy, TRAIN), []
    for epoch in range(epochs):
        generator = torch.Generator().manual_seed(epoch)
        if variants:
            stepper.vary("shift", generator)
        batches = torch.randperm(stepper.num_images, generator=generator).split(BATCH)
        batches = [rows.to(stepper.device) for rows in batches]
        own = torch.zeros(len(batches), dtype=torch.float64)
        stepper.take(batches, [LR] * len(batches), own)
        losses += own.tolist()
    state = strategy.state()
    return losses, [*state["params"].values(), *state["buffers"][0].values()]


def assert_same(found, wanted):
    assert found[0] == wanted[0]
    for one, other in zip(found[1], wanted[1], strict=True):
        assert torch.equal(one, other)


def test_several_devices_and_momentum_are_refused():
    for devices, asked in (([CPU, CPU], PLAIN), ([CPU], recipe(momentum=0.9))):
        with pytest.raises(ValueError, match="one device and plain SGD"):
            Graph(LeNet(torch.Generator().manual_seed(0)), devices, asked)


def test_without_a_gpu_the_step_is_taken_as_it_is():
    assert_same(
        trained(Graph(net_of("lenet"), [CPU], PLAIN)),
        trained(Replicas(net_of("lenet"), [CPU], PLAIN)),
    )


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
@pytest.mark.parametrize("compile_mode", ["none", "max-autotune-no-cudagraphs"])
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_on_a_gpu_the_graph_trains_to_the_same_bits(precision, compile_mode):
    prepare_process(precision)
    asked = recipe(precision=precision, compile=compile_mode, batch_size=BATCH, lr=LR)
    gpu = [torch.device("cuda", 0)]
    eager = trained(Replicas(net_of("lenet_he"), gpu, asked), 3, variants=True)
    graph = Graph(net_of("lenet_he"), gpu, asked)
    assert_same(trained(graph, 3, variants=True), eager)
    assert graph._graphs
