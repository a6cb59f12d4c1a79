"""Training on GPUs compared with training on the CPU, which other tests compare with the book."""

from collections.abc import Iterator

import pytest
import simulated_cuda
import torch

from lab.nets.models import MODELS
from lab.optim.update_rules import RULES
from lab.training.steps.by_name import model_and_step
from lab.training.trainer import Trainer, prepare_process
from tests.helpers import recipe

GPUS = torch.cuda.device_count()
IMAGES = torch.randint(256, (88, 28, 28), dtype=torch.uint8)
LABELS = torch.randint(10, (88,))
BATCHES = torch.arange(88).split(32)  # the last one is smaller


@pytest.fixture(autouse=True)
def no_races() -> Iterator[None]:
    """No stream reads or overwrites memory that another may still be using."""
    simulated_cuda.notes.clear()
    yield
    assert [what for kind, what, _ in simulated_cuda.notes if kind == "race"] == []


def weights(devices: list[torch.device], net: str = "lenet", **how: object) -> list[torch.Tensor]:
    """Return a net's and its optimizer's state after two epochs."""
    one = recipe(net=net, batch_size=32, num_gpus=len(devices), **how)
    prepare_process(one.precision)
    made = MODELS[net](torch.Generator().manual_seed(0))
    model, step = model_and_step(made, devices, one)
    trainer = Trainer(model, step, (IMAGES, LABELS))
    losses = torch.zeros(len(BATCHES), device=trainer.device)
    for lr in (0.05, 0.02):
        batches = [rows.to(trainer.device) for rows in BATCHES]
        trainer.take(batches, [lr] * len(batches), losses)
        assert same([rows.cpu() for rows in batches], BATCHES), "they are the caller's"
    assert losses.isfinite().all()
    state = model.nets[0].net.state_dict()
    parts = [part for parts in model.state()["updates"] for part in parts]
    return [tensor.cpu() for tensor in (*state.values(), *parts)]


def gpus(count: int) -> list[torch.device]:
    return [torch.device("cuda", i % GPUS) for i in range(count)]


def same(left: list[torch.Tensor], right: list[torch.Tensor]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(left, right, strict=True))


@pytest.mark.parametrize(
    ("count", "net", "precision"),
    [
        *((count, "lenet", "fp32") for count in (1, 2, 4, 8)),  # 8 share the GPUs
        (1, "lenet", "tf32"),
        *((count, "convnet", "bf16") for count in (1, 4)),
    ],
)
def test_replicas_learn_the_same_as_virtual_devices(count, net, precision):
    on_cpu = weights(
        [torch.device("cpu")] * count, net, precision=precision.replace("tf32", "fp32")
    )
    assert same(weights(gpus(count), net, precision=precision), on_cpu)


@pytest.mark.parametrize(
    ("net", "how"),
    [
        *((net, {"precision": kind}) for net in ("lenet", "convnet") for kind in ("fp32", "bf16")),
        *(("lenet_he", {"optimizer": name, "weight_decay": 1e-3}) for name in RULES),
    ],
)
def test_a_graph_learns_the_same_as_single_steps(net, how):
    steps = weights(gpus(1), net, **how)
    assert same(weights(gpus(1), net, strategy="graph", **how), steps)


@pytest.mark.parametrize("optimizer", RULES)
def test_an_optimizer_learns_the_same_as_on_virtual_devices(optimizer):
    how = {"optimizer": optimizer, "lr": 0.01}
    on_cpu = weights([torch.device("cpu")] * 2, "lenet_he", **how)
    assert same(weights(gpus(2), "lenet_he", **how), on_cpu)


@pytest.mark.parametrize(
    ("net", "how"), [("lenet", {}), ("convnet", {"optimizer": "nesterov", "label_smoothing": 0.1})]
)
def test_shards_learn_the_same_on_any_devices(net, how):
    on_cpu = weights([torch.device("cpu")], net, shards=8, **how)
    for count in (1, 2, 4, 8):
        assert same(weights(gpus(count), net, shards=8, **how), on_cpu), count


@pytest.mark.parametrize("count", [1, 2, 4])
def test_torchs_dataparallel_learns_the_same_as_replicas_up_to_rounding(count):
    replicas = weights(gpus(count))
    by_torch = weights(gpus(count), strategy="dataparallel")
    for mine, its in zip(replicas, by_torch, strict=True):
        torch.testing.assert_close(mine, its, rtol=0, atol=1e-6)
