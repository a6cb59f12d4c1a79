"""Each kind of parallelism is the one device's gradient, and moves and keeps what its closed form
says.
"""

from functools import partial

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from lab.nets.models import LeNet
from stages.parallelism import kinds
from stages.parallelism.kinds import data_parallel, idle_share, pipeline, schedule, tensor_parallel

CPU = torch.device("cpu")
KINDS = {
    "data": data_parallel,
    "pipeline": pipeline,
    "pipeline, 3 micro-batches": partial(pipeline, num_micro_batches=3),
    "tensor": tensor_parallel,
}
PARAMS = 129_068
OUTPUTS = (20 * 13 * 13, 50 * 4 * 4, 128, 10)  # numbers after each layer, of an image


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


def step(name, num_devices, n=7, dtype=torch.float64):
    return KINDS[name](lenet(dtype), *batch(n, dtype), [CPU] * num_devices)


@pytest.mark.parametrize("num_devices", [1, 2, 3, 4])
@pytest.mark.parametrize("name", KINDS)
def test_the_loss_and_the_gradients_are_those_of_one_device_also_with_uneven_shares(
    name, num_devices
):
    net, (X, y) = lenet(), batch(7)
    loss = F.cross_entropy(net(X), y, reduction="sum")
    loss.backward()
    found = step(name, num_devices)
    assert found.loss == pytest.approx(loss.item(), rel=1e-12)
    for g, p in zip(found.gradients, net.parameters(), strict=True):
        torch.testing.assert_close(g, p.grad, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("num_devices", [1, 2, 3, 4])
@pytest.mark.parametrize("n", [4, 7])
def test_data_parallel_moves_each_gradient_there_and_back_whatever_the_batch(num_devices, n):
    assert step("data", num_devices, n, torch.float32).moved == {
        "forward": 0,
        "backward": 0,
        "gradients": 2 * (num_devices - 1) * 4 * PARAMS,
    }


@pytest.mark.parametrize("name", ["pipeline", "pipeline, 3 micro-batches"])
@pytest.mark.parametrize("num_devices", [1, 2, 3, 4])
def test_a_pipeline_moves_what_is_between_its_parts(name, num_devices):
    ends = [part[-1] for part in kinds.cut(num_devices)][:-1]
    between = 7 * 4 * sum(OUTPUTS[layer] for layer in ends)
    moved = step(name, num_devices, 7, torch.float32).moved
    assert moved == {"forward": between, "backward": between, "gradients": 0}


@pytest.mark.parametrize("num_devices", [1, 2, 3, 4])
def test_tensor_parallel_moves_each_share_to_all_others_and_its_gradients_back(num_devices):
    first_logits = len(torch.arange(10).tensor_split(num_devices)[0])
    numbers = (num_devices - 1) * sum(OUTPUTS[:3]) + 10 - first_logits
    moved = step("tensor", num_devices, 7, torch.float32).moved
    assert moved == {"forward": 7 * 4 * numbers, "backward": 7 * 4 * numbers, "gradients": 0}


def kept(n, conv1=20, conv2=50, dense=128, logits=0, images=True):
    """Numbers that autograd keeps of n images: each layer's input (conv outputs before pooling),
    and the loss's.
    """
    numbers = (
        784 * images
        + conv1 * 26 * 26
        + 20 * 13 * 13 * bool(conv2)
        + conv2 * 9 * 9
        + 800 * bool(dense)
    )
    return n * (numbers + dense + logits)


def test_memory_of_one_device_by_hand():
    [memory] = step("data", 1, 7, torch.float32).memory
    assert (memory.params, memory.gradients) == (4 * PARAMS, 4 * PARAMS)
    loss = 4 * (7 * 10 + 1) + 8 * 7  # log-probabilities, the total weight, labels of 8 bytes
    assert memory.activations == 4 * kept(7) + loss
    assert memory.total == 8 * PARAMS + memory.activations


@pytest.mark.parametrize("num_devices", [2, 4])
def test_data_parallel_splits_the_activations_and_not_the_weights(num_devices):
    [one] = step("data", 1, 8).memory
    for memory in step("data", num_devices, 8).memory:
        assert memory.params == one.params
        assert memory.activations == pytest.approx(one.activations / num_devices, rel=1e-3)


@pytest.mark.parametrize("name", ["pipeline", "tensor"])
@pytest.mark.parametrize("num_devices", [2, 3, 4])
def test_model_parallel_splits_the_weights(name, num_devices):
    memory = step(name, num_devices, 7, torch.float32).memory
    assert sum(m.params for m in memory) == sum(m.gradients for m in memory) == 4 * PARAMS
    if name == "tensor":
        assert max(m.params for m in memory) < 4 * PARAMS / num_devices * 1.1


def test_a_pipeline_keeps_each_layers_part_where_it_is_and_micro_batches_change_nothing_of_it():
    first, second = step("pipeline", 2, 6, torch.float32).memory
    assert first.activations == 4 * kept(6, dense=0)
    assert second.activations == 4 * (6 * (800 + 128) + 6 * 10 + 1) + 8 * 6
    split = step("pipeline, 3 micro-batches", 2, 6, torch.float32).memory
    assert split[0] == first, "all micro-batches are kept until the backward pass"


def test_tensor_parallel_keeps_all_of_each_layers_input_and_a_share_of_its_output():
    first, second = step("tensor", 2, 7, torch.float32).memory
    inputs = 784 + 20 * 13 * 13 + 800 + 128
    own = 10 * 26 * 26 + 25 * 9 * 9 + 64
    assert second.activations == 4 * 7 * (inputs + own)
    assert first.activations - second.activations == 4 * (7 * 10 + 1) + 8 * 7, "the loss"


@given(st.integers(1, 6), st.integers(1, 12))
def test_the_bubble_of_equal_parts(num_devices, num_micro_batches):
    units = schedule([1.0] * num_devices, num_micro_batches)
    assert idle_share(units) == pytest.approx(
        (num_devices - 1) / (num_micro_batches + num_devices - 1)
    )


@given(st.lists(st.floats(0.1, 10), min_size=1, max_size=5), st.integers(1, 8))
def test_a_schedule_is_in_order_and_keeps_the_slowest_device_busy(durations, num_micro_batches):
    units = schedule(durations, num_micro_batches)
    assert len(units) == len(durations) * num_micro_batches
    by_place = {(u.device, u.micro_batch): u for u in units}
    for unit in units:
        for before in ((unit.device - 1, unit.micro_batch), (unit.device, unit.micro_batch - 1)):
            assert before not in by_place or by_place[before].end <= unit.start + 1e-9
    end = max(u.end for u in units)
    assert end == pytest.approx(sum(durations) + (num_micro_batches - 1) * max(durations))


def test_the_parts_of_a_pipeline_are_counted():
    per_layer = [2 * n for n in (121_680, 2_025_000, 102_400, 1_280)]
    assert kinds.flop_of_parts(lenet(torch.float32), 4) == per_layer
    assert kinds.flop_of_parts(lenet(), 2) == [sum(per_layer[:2]), sum(per_layer[2:])]


def test_more_devices_than_layers_are_refused():
    with pytest.raises(ValueError, match="at most 4 devices, a layer each, got 5"):
        step("pipeline", 5)


def test_difference_is_relative_to_the_largest_entry():
    one, other = step("data", 1), step("tensor", 3)
    assert kinds.difference(one, one) == 0
    assert 0 < kinds.difference(other, one) < 1e-12


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA GPU")
@pytest.mark.parametrize("name", KINDS)
def test_on_a_gpu_the_gradients_and_the_counts_are_the_same(name):
    gpu = torch.device("cuda", 0)
    on_cpu, on_gpu = (KINDS[name](lenet(), *batch(7), [device] * 3) for device in (CPU, gpu))
    assert kinds.difference(on_gpu, on_cpu) < 1e-10
    assert on_gpu.moved == on_cpu.moved
