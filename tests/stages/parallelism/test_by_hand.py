"""Each kind of parallelism gives one device's gradient; its traffic and memory have formulas."""

from functools import cache, partial

import pytest
import torch
import torch.nn.functional as F

from lab.nets.models import LeNet
from lab.parallel.workers import thread_pool
from stages.parallelism.measure.by_hand import (
    DataParallel,
    DeviceGroup,
    Pipeline,
    TensorParallel,
    cut,
    lenet_layers,
    train,
)
from stages.parallelism.measure.costs import counted_step, difference

CPU = torch.device("cpu")
IN_PARTS = "pipeline, 3 micro-batches"
KINDS = {
    "data": DataParallel,
    "pipeline": partial(Pipeline, num_micro_batches=1),
    IN_PARTS: partial(Pipeline, num_micro_batches=3),
    "tensor": TensorParallel,
}
PARAMS = 129_068
OUTPUTS = (20 * 13 * 13, 50 * 4 * 4, 128, 10)  # numbers per image after each layer
COUNTS = (1, 2, 3, 4)


def lenet(dtype=torch.float64):
    net = LeNet(torch.Generator().manual_seed(0)).to(dtype)
    with torch.no_grad():
        for param in net.parameters():
            param.mul_(10)
    return net


def batch(n, dtype=torch.float64):
    generator = torch.Generator().manual_seed(1)
    X = torch.rand(n, 1, 28, 28, generator=generator, dtype=dtype)
    return X, torch.randint(0, 10, (n,), generator=generator)


@cache
def step(name, num_devices, n=7, dtype=torch.float64):
    return counted_step(KINDS[name], lenet(dtype), *batch(n, dtype), [CPU] * num_devices)


@pytest.mark.parametrize("name", KINDS)
def test_the_loss_and_the_gradients_are_those_of_one_device_even_with_uneven_shares(name):
    net, (X, y) = lenet(), batch(7)
    loss = F.cross_entropy(net(X), y, reduction="sum")
    loss.backward()
    for num_devices in COUNTS:
        found = step(name, num_devices)
        assert found.loss == pytest.approx(loss.item(), rel=1e-12), num_devices
        for g, p in zip(found.gradients, net.parameters(), strict=True):
            torch.testing.assert_close(
                g, p.grad, rtol=1e-10, atol=1e-12, msg=lambda m, n=num_devices: f"{n}: {m}"
            )


def test_data_parallel_sends_each_gradient_there_and_back_whatever_the_batch():
    for num_devices in COUNTS:
        for n in (4, 7):
            sent = step("data", num_devices, n, torch.float32).sent
            assert sent == 2 * (num_devices - 1) * 4 * PARAMS, (num_devices, n)


def test_a_pipeline_sends_activations_between_its_parts_and_gradients_back():
    for num_devices in COUNTS:
        ends = [part[-1] for part in cut(4, num_devices)][:-1]
        between = 7 * 4 * sum(OUTPUTS[layer] for layer in ends)
        for name in ("pipeline", IN_PARTS):
            sent = step(name, num_devices, 7, torch.float32).sent
            assert sent == 2 * between, (name, num_devices)


def test_tensor_parallel_sends_each_share_to_all_others_and_its_gradients_back():
    for num_devices in COUNTS:
        first_logits = len(torch.arange(10).tensor_split(num_devices)[0])
        there = 7 * 4 * ((num_devices - 1) * sum(OUTPUTS[:3]) + 10 - first_logits)
        assert step("tensor", num_devices, 7, torch.float32).sent == 2 * there, num_devices


def kept(n, conv1=20, conv2=50, dense=128):
    """Count autograd's numbers for n images: each layer's input, convolutions before pooling."""
    numbers = 784 + conv1 * 26 * 26 + 20 * 13 * 13 * bool(conv2) + conv2 * 9 * 9 + 800 * bool(dense)
    return n * (numbers + dense)


def loss_bytes(n):
    """Return the bytes of log-probabilities, the total weight, and labels of 8 bytes."""
    return 4 * (n * 10 + 1) + 8 * n


def test_memory_of_one_device_equals_the_count_by_hand():
    [memory] = step("data", 1, 7, torch.float32).memory
    assert (memory.params, memory.gradients) == (4 * PARAMS, 4 * PARAMS)
    assert memory.activations == 4 * kept(7) + loss_bytes(7)
    assert memory.total == 8 * PARAMS + memory.activations


def test_data_parallel_splits_the_activations_and_not_the_weights():
    [one] = step("data", 1, 8).memory
    for num_devices in (2, 4):
        for memory in step("data", num_devices, 8).memory:
            assert memory.params == one.params
            assert memory.activations == pytest.approx(one.activations / num_devices, rel=1e-3)


def test_model_parallel_splits_the_weights():
    for name in ("pipeline", "tensor"):
        for num_devices in (2, 3, 4):
            memory = step(name, num_devices, 7, torch.float32).memory
            held = sum(m.params for m in memory), sum(m.gradients for m in memory)
            assert held == (4 * PARAMS, 4 * PARAMS), (name, num_devices)
            if name == "tensor":
                assert max(m.params for m in memory) < 4 * PARAMS / num_devices * 1.1


def test_a_pipeline_keeps_each_layers_activations_on_its_device_and_micro_batches_save_none():
    first, second = step("pipeline", 2, 6, torch.float32).memory
    assert first.activations == 4 * kept(6, dense=0)
    assert second.activations == 4 * 6 * (800 + 128) + loss_bytes(6)
    split = step(IN_PARTS, 2, 6, torch.float32).memory
    assert split[0] == first, "all micro-batches are kept until the backward pass"


def test_tensor_parallel_keeps_all_of_each_layers_input_and_a_share_of_its_output():
    first, second = step("tensor", 2, 7, torch.float32).memory
    inputs = 784 + 20 * 13 * 13 + 800 + 128
    own = 10 * 26 * 26 + 25 * 9 * 9 + 64
    assert second.activations == 4 * 7 * (inputs + own)
    assert first.activations - second.activations == loss_bytes(7)


def test_more_devices_than_layers_are_refused():
    with pytest.raises(ValueError, match="at most 4 devices, a layer each, got 5"):
        step("pipeline", 5)


ON_GPUS = pytest.param(
    "cuda",
    marks=[
        pytest.mark.gpu,
        pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA GPU"),
    ],
)


@pytest.mark.parametrize("kind", ["cpu", ON_GPUS])
@pytest.mark.parametrize("name", KINDS)
def test_steps_of_sgd_are_those_of_one_device_and_each_starts_without_gradients(name, kind):
    """It uses at most three GPUs, and as much is sent between them."""
    count = torch.cuda.device_count() if kind == "cuda" else 1
    devices = [torch.device(kind, i % count) for i in range(3)]
    net, (X, y) = lenet(), batch(7)
    with thread_pool(3, 1) as pool:
        model, group = KINDS[name](lenet_layers(lenet()), devices), DeviceGroup(devices, pool)
        for _ in range(2):
            train(model, X, y, 0.1, group)
            F.cross_entropy(net(X), y, reduction="mean").backward()
            for p in net.parameters():
                p.data.sub_(p.grad, alpha=0.1)
                p.grad = None
        assert all(p.grad is None for own in model.params for p in own)
        again = counted_step(DataParallel, net, X, y, [CPU])
        loss = model.take_gradient(X, y, group)
    assert loss.item() == pytest.approx(again.loss, rel=1e-10)
    assert difference(model.gradients(), again.gradients) < 1e-10
    assert counted_step(KINDS[name], lenet(), X, y, devices).sent == step(name, 3).sent
