"""The same bits on 1, 2, 4 and 8 devices, by threads or processes; the number may change."""

import functools

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from lab.machine.devices import Devices
from lab.nets.models import MODELS, UInt8Input
from lab.parallel.local_ranks import run_on_ranks
from lab.training.steps.by_name import model_and_step
from tests.helpers import recipe
from tests.lab.training.sharded_ranks import go_on, go_on_as_a_rank, hash_of, loaded, start
from tests.lab.training.strategy_ranks import CPU, batch

EIGHT = Devices("cpu-virtual", [CPU] * 8, 1)


@pytest.fixture(autouse=True)
def _threads_as_before():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@functools.cache
def expected(name: str) -> str:
    """Return the hash of a net trained on one device with one thread, uninterrupted."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    state = go_on(*start(name, 1), name)
    torch.set_num_threads(threads)
    return hash_of(state)


@pytest.mark.parametrize(
    ("name", "num_devices"), [("lenet_he", 2), ("lenet_he", 8), ("convnet", 2)]
)
def test_threads_give_the_bits_of_one_device(name, num_devices):
    assert hash_of(go_on(*start(name, num_devices), name)) == expected(name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "world_sizes"), [("lenet_he", (8,)), ("lenet_he", (4, 2, 1)), ("resnet18", (2, 1))]
)
def test_processes_give_the_bits_of_one_device_even_if_their_number_changes(name, world_sizes):
    saved = b""
    for world_size in world_sizes:
        steps = None if world_size == world_sizes[-1] else 1
        saved = run_on_ranks(world_size, EIGHT, go_on_as_a_rank, name, saved, steps)
    assert hash_of(loaded(saved)) == expected(name)


def test_the_number_of_devices_and_their_threads_may_change_after_each_step():
    name, state = "lenet_he", None
    for num_devices, threads in ((4, 1), (2, 3), (1, 8)):
        torch.set_num_threads(threads)
        model, step = start(name, num_devices)
        assert len(model.devices) == num_devices * {1: 1, 3: 2, 8: 8}[threads]
        state = go_on(model, step, name, state, None if num_devices == 1 else 1)
    assert hash_of(state) == expected(name)


def test_without_shards_the_number_of_devices_changes_the_bits():
    seen = set()
    for num_devices in (1, 2, 4):
        net = MODELS["lenet_he"](torch.Generator().manual_seed(0))
        model, step = model_and_step(net, [CPU] * num_devices, recipe())
        step(batch(64), torch.arange(64), 0.05, 64)
        seen.add(model.nets[0].net.W3.detach().numpy().tobytes())
        model.close()
    assert len(seen) > 1


def test_a_step_is_plain_sgd_and_running_statistics_move_to_the_mean_over_shards():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 3, 5, 3), nn.BatchNorm2d(3), nn.Flatten(), nn.Linear(192, 10))
    X, y = batch(13)
    model, step = model_and_step(net, [CPU, CPU], recipe(shards=4))
    loss = step((X, y), torch.arange(13), 0.1, 13)

    shards = list(zip(X.tensor_split(4), y.tensor_split(4), strict=True))
    outputs = [net[0](images[:, None] / 255).detach() for images, _ in shards]
    alone = UInt8Input(net)
    expected = sum(F.cross_entropy(alone(X), y, reduction="sum") for X, y in shards)
    gradients = torch.autograd.grad(expected, list(net.parameters()))
    torch.testing.assert_close(loss, expected.detach())
    for trained in model.nets:
        for after, p, gradient in zip(
            trained.parameters(), net.parameters(), gradients, strict=True
        ):
            torch.testing.assert_close(after, p - 0.1 * gradient / 13, rtol=1e-5, atol=1e-6)
        norm = trained.net[1]
        mean, var = (
            torch.stack(values).mean(0)
            for values in zip(
                *((out.mean((0, 2, 3)), out.var((0, 2, 3))) for out in outputs), strict=True
            )
        )
        torch.testing.assert_close(norm.running_mean, 0.1 * mean)
        torch.testing.assert_close(norm.running_var, 0.9 + 0.1 * var)
        assert norm.num_batches_tracked == 1
    model.close()


def test_buffers_that_are_not_batch_norms_are_refused():
    net = MODELS["lenet"](torch.Generator())
    net.register_buffer("counted", torch.zeros(3))
    with pytest.raises(ValueError, match="no buffers but batch norm's"):
        model_and_step(net, [CPU], recipe(shards=2))
