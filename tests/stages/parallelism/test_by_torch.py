"""Torch's own parallelism among real ranks: the gradient of one device, and the formulas' bytes."""

from itertools import pairwise

import pytest
import torch

from lab.machine.devices import Devices
from lab.parallel.local_ranks import run_on_ranks
from lab.parallel.workers import thread_pool
from lab.results.measurements import Results
from stages.parallelism.measure.by_hand import DataParallel, DeviceGroup, dense_layers, train
from stages.parallelism.measure.by_torch import libraries, measure_by_torch
from stages.parallelism.measure.params import (
    BY_HAND,
    FULLY_SHARD,
    PARALLELIZE,
    PIPELINING,
    ParallelismParams,
)

pytestmark = pytest.mark.slow

CPU = torch.device("cpu")
TWO, FOUR = (Devices("cpu-virtual", [CPU] * n, 1) for n in (2, 4))
UNITS, FEW, MANY = 8, 4, 8
PARAMS = ParallelismParams(
    num_devices=[2, 4], batch_sizes=[FEW, MANY], num_micro_batches=2, wide_units=UNITS
)
# on each wire and for each image: the outputs of layers 2 and 4, the gradient of layer 3's inputs
SUMMED = UNITS + 10 + UNITS
NUMBERS = sum(a * b + b for a, b in pairwise((784, UNITS, UNITS, UNITS, 10)))


@pytest.fixture(scope="module")
def found():
    measured = [
        run_on_ranks(len(each.devices), each, measure_by_torch, each.kind, PARAMS, 0)
        for each in (TWO, FOUR)
    ]
    results = Results([m for each in measured for m in each])

    def values(experiment, variant, n):
        return [m.values[0] for m in results.series(experiment, variant, devices=n)]

    return values


def test_the_gradients_are_those_of_one_device(found):
    for name in BY_HAND:
        for n in (2, 4):
            [eps] = found("gradient", name, n)
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
        more = padding if name == FULLY_SHARD else 0
        assert found("sent", name, n) == pytest.approx([each + more for each in mb])


def test_the_state_of_the_fullest_rank_is_counted(found):
    assert found("state", FULLY_SHARD, 2) == pytest.approx([4e-6 * NUMBERS])
    assert found("state", PIPELINING, 4) == pytest.approx([8e-6 * (784 * UNITS + UNITS)])


def _after_two_steps(device):
    """How far each library's next gradient is from one device's."""
    generator = torch.Generator().manual_seed(0)
    net = dense_layers(UNITS, generator)
    net = net._replace(params=[(W.double(), b.double()) for W, b in net.params])
    X = torch.rand(MANY, 1, 28, 28, generator=generator).double()
    y = torch.randint(10, (MANY,), generator=generator)
    with thread_pool(1, 1) as pool:
        alone, group = DataParallel(net, [device]), DeviceGroup([device], pool)
        for _ in range(2):
            train(alone, X, y, 0.1, group)
        alone.take_gradient(X, y, group)
    apart = {}
    for name, library in libraries(2).items():
        placed = library(net, device)
        for _ in range(2):
            placed.step(X, y, 0.1)
        placed.take_gradient(X, y)
        apart[name] = max(
            float((mine - its).abs().max())
            for mine, its in zip(placed.gradients(), alone.gradients(), strict=True)
        )
    return apart


def test_steps_are_those_of_one_device():
    apart = run_on_ranks(2, TWO, _after_two_steps)
    assert all(0 < difference < 1e-12 for difference in apart.values()), apart
