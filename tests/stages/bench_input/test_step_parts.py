import copy
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
import torch.nn.functional as F

from lab.nets.models import MODELS
from lab.parallel.replicas import replicate
from stages.bench_input.step_parts import PARTS, evaluation_s, step_parts

CPU = torch.device("cpu")


@pytest.mark.parametrize("num_devices", [1, 2, 3])
def test_a_timed_step_is_a_step_of_sgd_on_the_whole_batch(num_devices):
    net = MODELS["lenet"](torch.Generator().manual_seed(0)).double()
    with torch.no_grad():
        for p in net.parameters():
            p.mul_(10)  # gradients that are not tiny
    X, y = torch.rand(7, 1, 28, 28, dtype=torch.float64), torch.randint(10, (7,))
    devices = [CPU] * num_devices
    replicas = [replicate(net, device) for device in devices]
    with ThreadPoolExecutor(num_devices) as pool:
        parts = step_parts(iter([(X, y)]), replicas, devices, 0.5, pool)
    assert list(parts) == list(PARTS)
    assert all(seconds >= 0 for seconds in parts.values())
    expected = copy.deepcopy(net)
    F.cross_entropy(expected(X), y).backward()
    for replica in replicas:
        for p, q in zip(replica.parameters(), expected.parameters(), strict=True):
            torch.testing.assert_close(p, q - 0.5 * q.grad)


def test_evaluation_has_a_time_per_image():
    net = MODELS["lenet"](torch.Generator().manual_seed(0))
    assert 0 < evaluation_s(net, torch.rand(8, 1, 28, 28)) < 1
