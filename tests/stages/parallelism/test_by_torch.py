"""Torch's own parallelism among real ranks: the gradient of one device, and the formulas' bytes."""

from contextlib import nullcontext
from itertools import pairwise

import pytest
import torch
import torch.distributed as dist
from torch.distributed.tensor.debug import CommDebugMode
from torch.testing._internal.distributed.fake_pg import FakeStore

from lab.core.shared_params import BenchParams, DeviceParams
from lab.machine.devices import Devices
from lab.parallel.local_ranks import run_on_ranks
from lab.parallel.workers import thread_pool
from lab.results.measurements import again
from stages.parallelism.measure.by_torch import FullySharded, InColumnsAndRows, InMicroBatches
from stages.parallelism.measure.calls import Calls
from stages.parallelism.measure.data_parallel import DataParallel
from stages.parallelism.measure.layers import wide_layers
from stages.parallelism.measure.names import (
    BY_HAND,
    DATA,
    DIFFERENCE_EPS,
    FULLY_SHARD,
    PARALLELIZE,
    PIPELINING,
    TORCH_STEP_MS,
    WIDE_CALLS,
    WIDE_MODEL_MB,
    WIDE_MOVED_MB,
    WIDE_STATE_MB,
    on_devices,
)
from stages.parallelism.measure.params import ParallelismParams, Params
from stages.parallelism.measure.step import train
from stages.parallelism.measure.torch_ranks import measure_by_torch, numbers_sent, time_by_torch
from stages.parallelism.measure.wires import Wires

pytestmark = pytest.mark.slow

CPU = torch.device("cpu")
FOUR = Devices("cpu-virtual", [CPU] * 4, 1)
UNITS, FEW, MANY = 8, 4, 8
PARAMS = ParallelismParams(
    num_devices=[2, 4], batch_sizes=[FEW, MANY], num_micro_batches=2, wide_units=UNITS
)
# on each wire and for each image: the outputs of layers 2 and 4, the gradient of layer 3's inputs
SUMMED = UNITS + 10 + UNITS
NUMBERS = sum(a * b + b for a, b in pairwise((784, UNITS, UNITS, UNITS, 10)))


@pytest.fixture(scope="module")
def found():
    return {(c.experiment, c.series): c for c in measure_by_torch(PARAMS, FOUR, seed=0)}


def test_the_gradients_are_those_of_one_device(found):
    for name in BY_HAND:
        for n in (2, 4):
            [eps] = found[DIFFERENCE_EPS, on_devices(name, n)].y
            assert 0 < eps < 100, "another order of adding, in float64"


@pytest.mark.parametrize("n", [2, 4])
def test_what_is_sent_is_what_the_formulas_say_but_for_padding(found, n):
    padding = 3 * (n - 1) * 4e-6 * (2 * UNITS + 2) if n == 4 else 0  # 10 rows and biases, as 12
    expected = {
        FULLY_SHARD: [3 * (n - 1) * 4e-6 * NUMBERS] * 2,
        PARALLELIZE: [2 * (n - 1) * 4e-6 * size * SUMMED for size in (FEW, MANY)],
        PIPELINING: [2 * 4e-6 * size * UNITS * (n - 1 if n == 4 else 1) for size in (FEW, MANY)],
    }
    for name, mb in expected.items():
        assert found[WIDE_MODEL_MB, on_devices(name, n)].y == pytest.approx(mb)
        more = padding if name == FULLY_SHARD else 0
        sent = found[WIDE_MOVED_MB, on_devices(name, n)].y
        assert sent == pytest.approx([each + more for each in mb])


def test_calls_and_state_are_counted(found):
    for n in (2, 4):
        # four layers: put together for both passes, and their gradients scattered
        assert found[WIDE_CALLS, on_devices(FULLY_SHARD, n)].y.tolist() == [12, 12]
        assert found[WIDE_CALLS, on_devices(PARALLELIZE, n)].y.tolist() == [3, 3]
        between = PARAMS.num_micro_batches * (2 if n == 4 else 1)  # there, and back
        assert found[WIDE_CALLS, on_devices(PIPELINING, n)].y.tolist() == [between] * 2
    assert found[WIDE_STATE_MB, FULLY_SHARD].y[0] == pytest.approx(4e-6 * NUMBERS)
    assert found[WIDE_STATE_MB, PIPELINING].y[1] == pytest.approx(8e-6 * (784 * UNITS + UNITS))


def test_numbers_by_a_count_of_ones_own():
    assert numbers_sent(2, UNITS) == {
        FULLY_SHARD: (3 * NUMBERS, 0),
        PARALLELIZE: (0, 2 * SUMMED),
        PIPELINING: (0, 2 * UNITS),
    }


def _after_two_steps(device):
    """How far each library's next gradient is from one device's, and calls as torch counts them."""
    generator = torch.Generator().manual_seed(0)
    net = wide_layers(UNITS, generator)
    net = net._replace(params=[(W.double(), b.double()) for W, b in net.params])
    X = torch.rand(MANY, 1, 28, 28, generator=generator).double()
    y = torch.randint(10, (MANY,), generator=generator)
    with thread_pool(1, 1) as pool:
        alone = DataParallel(net, [device], pool)
        for _ in range(2):
            train(alone, X, y, 0.1, pool)
        alone.take_gradient(X, y, Wires())
    apart, counts = {}, {}
    for name, placed in {
        FULLY_SHARD: FullySharded(net, device),
        PARALLELIZE: InColumnsAndRows(net, device),
        PIPELINING: InMicroBatches(net, device, 2),
    }.items():
        for _ in range(2):
            placed.step(X, y, 0.1)
        # whose hooks a pipeline does not bear
        with nullcontext() if name == PIPELINING else CommDebugMode() as by_torch, Calls(2) as ours:
            placed.take_gradient(X, y)
        if by_torch:
            counts[name] = by_torch.get_total_counts(), ours.count
        apart[name] = max(
            float((mine - its).abs().max())
            for mine, its in zip(placed.gradients(), alone.gradients(), strict=True)
        )
    return apart, counts


def test_steps_are_those_of_one_device_and_calls_as_many_as_torch_counts():
    apart, counts = run_on_ranks(2, FOUR, _after_two_steps)
    assert all(0 < difference < 1e-12 for difference in apart.values()), apart
    assert counts == {FULLY_SHARD: (12, 12), PARALLELIZE: (3, 3)}


def test_times_are_by_hand_and_by_torch_of_each_start():
    params = Params(
        seed=0,
        devices=DeviceParams(cpu_threads=1),
        bench=BenchParams(starts=2, rounds=1, min_sample_ms=0.1),
        parallelism=PARAMS,
    )
    timed = time_by_torch(params)
    assert {m.experiment for m in timed} == {TORCH_STEP_MS}
    assert {m.variant for m in timed} == {*BY_HAND, *BY_HAND.values(), again(DATA)}
    assert all(len(m.values) == 2 and min(m.values) > 0 for m in timed)


def test_refuses_what_it_cannot_count():
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
    try:
        with Calls(2), pytest.raises(ValueError, match="got c10d::broadcast_"):
            dist.broadcast(torch.zeros(3), src=0)
    finally:
        dist.destroy_process_group()
