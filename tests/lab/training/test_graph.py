"""The step as a CUDA graph, on a GPU and without one."""

import pytest
import torch

from lab.data import synthetic
from lab.nets.models import MODELS
from lab.optim.update_rules import RULES
from lab.training.steps.by_name import model_and_step
from lab.training.trainer import Trainer, prepare_process
from tests.helpers import recipe

CPU = torch.device("cpu")
IMAGES, LABELS = map(torch.from_numpy, synthetic.fashion(40, 0))
TRAIN = IMAGES, LABELS.long()
BATCH = 16  # two full batches, and one of 8
LR = 0.1
PLAIN = recipe(batch_size=BATCH, lr=LR)


def net_of(name):
    return MODELS[name](torch.Generator().manual_seed(0))


def trained(name, device, asked, epochs=2, variants=False):
    """Return all losses of some epochs, each in a different order, and the final state."""
    model, step = model_and_step(net_of(name), [device], asked)
    trainer, losses = Trainer(model, step, TRAIN), []
    for epoch in range(epochs):
        generator = torch.Generator().manual_seed(epoch)
        if variants:
            trainer.vary("shift", generator)
        batches = torch.randperm(trainer.num_images, generator=generator).split(BATCH)
        batches = [rows.to(trainer.device) for rows in batches]
        own = torch.zeros(len(batches), dtype=torch.float64)
        trainer.take(batches, [LR] * len(batches), own)
        losses += own.tolist()
    state = model.state()
    parts = [part for parts in state["updates"] for part in parts]
    return losses, [*state["params"].values(), *state["buffers"][0].values(), *parts]


def assert_same(found, wanted):
    assert found[0] == wanted[0]
    for one, other in zip(found[1], wanted[1], strict=True):
        assert torch.equal(one, other)


def test_without_a_gpu_the_step_runs_eagerly():
    assert_same(trained("lenet", CPU, PLAIN.but(strategy="graph")), trained("lenet", CPU, PLAIN))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
@pytest.mark.parametrize(
    ("precision", "compile_mode", "optimizer"),
    [
        *(("fp32", "none", optimizer) for optimizer in RULES),
        ("bf16", "none", "sgd"),
        ("fp32", "max-autotune-no-cudagraphs", "sgd"),
        ("bf16", "max-autotune-no-cudagraphs", "sgd"),
    ],
)
def test_on_a_gpu_the_graph_gives_bit_for_bit_identical_training(
    precision, compile_mode, optimizer
):
    prepare_process(precision)
    asked = PLAIN.but(precision=precision, compile=compile_mode, optimizer=optimizer)
    gpu = torch.device("cuda", 0)
    eager = trained("lenet_he", gpu, asked, 3, variants=True)
    graph = trained("lenet_he", gpu, asked.but(strategy="graph"), 3, variants=True)
    assert_same(graph, eager)
