"""Training on GPUs against training on the processor: there it is held against the book."""

from collections.abc import Iterator

import pytest
import simulated_cuda
import torch

from lab.nets.models import MODELS
from lab.training.steps import Stepper, prepare_process
from lab.training.strategies.by_name import strategy_of
from tests.helpers import recipe

GPUS = torch.cuda.device_count()
IMAGES = torch.randint(256, (88, 28, 28), dtype=torch.uint8)
LABELS = torch.randint(10, (88,))
BATCHES = torch.arange(88).split(32)  # the last one is smaller


@pytest.fixture(autouse=True)
def no_races() -> Iterator[None]:
    """No stream reads, or overwrites, what another one may still be at."""
    simulated_cuda.notes.clear()
    yield
    assert [what for kind, what, _ in simulated_cuda.notes if kind == "race"] == []


def weights(devices: list[torch.device], net: str = "lenet", **how: object) -> list[torch.Tensor]:
    """All that a net has learned by two epochs."""
    one = recipe(net=net, batch_size=32, num_gpus=len(devices), **how)
    prepare_process(one.precision)
    made = MODELS[net](torch.Generator().manual_seed(0))
    strategy = strategy_of(made, devices, one)
    stepper = Stepper(strategy, (IMAGES, LABELS))
    losses = torch.zeros(len(BATCHES), device=stepper.device)
    for lr in (0.05, 0.02):
        batches = [rows.to(stepper.device) for rows in BATCHES]
        stepper.take(batches, [lr] * len(batches), losses)
        assert same([rows.cpu() for rows in batches], BATCHES), "they are the caller's"
    assert losses.isfinite().all()
    state = strategy.nets[0].net.state_dict()
    return [tensor.cpu() for tensor in state.values()]


def gpus(count: int) -> list[torch.device]:
    return [torch.device("cuda", i % GPUS) for i in range(count)]


def same(left: list[torch.Tensor], right: list[torch.Tensor]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(left, right, strict=True))


@pytest.mark.parametrize(
    ("count", "net", "precision"),
    [
        *((count, "lenet", "fp32") for count in (1, 2, 4, 8)),  # of which 8 share the GPUs
        (1, "lenet", "tf32"),
        *((count, "convnet", "bf16") for count in (1, 4)),
    ],
)
def test_replicas_learn_what_virtual_devices_do(count, net, precision):
    on_cpu = weights(
        [torch.device("cpu")] * count, net, precision=precision.replace("tf32", "fp32")
    )
    assert same(weights(gpus(count), net, precision=precision), on_cpu)


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("net", ["lenet", "convnet"])
def test_a_graph_learns_what_single_steps_do(net, precision):
    steps = weights(gpus(1), net, precision=precision)
    assert same(weights(gpus(1), net, precision=precision, strategy="graph"), steps)


@pytest.mark.parametrize(
    ("net", "how"), [("lenet", {}), ("convnet", {"momentum": 0.9, "label_smoothing": 0.1})]
)
def test_shards_learn_the_same_on_any_devices(net, how):
    on_cpu = weights([torch.device("cpu")], net, shards=8, **how)
    for count in (1, 2, 4, 8):
        assert same(weights(gpus(count), net, shards=8, **how), on_cpu), count


@pytest.mark.parametrize("count", [1, 2, 4])
def test_torchs_dataparallel_learns_what_replicas_do_up_to_rounding(count):
    replicas = weights(gpus(count))
    by_torch = weights(gpus(count), strategy="dataparallel")
    for mine, its in zip(replicas, by_torch, strict=True):
        torch.testing.assert_close(mine, its, rtol=0, atol=1e-6)
