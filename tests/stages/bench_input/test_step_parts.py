import copy
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate, count

import pytest
import torch
import torch.nn.functional as F

from lab.nets.lenet import lenet
from lab.nets.models import MODELS
from lab.parallel.replicas import replicate
from lab.timing import clock as clock_module
from lab.timing.clock import time_parts
from stages.bench_input.measure import step_parts as module
from stages.bench_input.measure.names import PARTS
from stages.bench_input.measure.python_overhead import LR, ONE_CHANNEL, copies, step
from stages.bench_input.measure.step_parts import step_in_parts

CPU = torch.device("cpu")


@pytest.fixture
def clock(monkeypatch):
    """A clock on which 1 s passes before the second reading, 2 s before the third, and so on."""
    readings = accumulate(range(100))
    monkeypatch.setattr(clock_module, "read_clock", lambda devices: next(readings))


def test_a_timed_step_is_a_step_of_sgd_on_the_whole_batch_with_a_time_for_each_part(clock):
    net = MODELS["lenet"](torch.Generator().manual_seed(0)).double()
    with torch.no_grad():
        for p in net.parameters():
            p.mul_(10)  # gradients that are not tiny
    X, y = torch.rand(7, 1, 28, 28, dtype=torch.float64), torch.randint(10, (7,))
    expected = copy.deepcopy(net)
    F.cross_entropy(expected(X), y).backward()
    for num_devices in (1, 3):
        devices = [CPU] * num_devices
        replicas = [replicate(net, device) for device in devices]
        with ThreadPoolExecutor(num_devices) as pool:
            parts = time_parts(step_in_parts(iter([(X, y)]), replicas, devices, pool), devices)
        seconds = [parts[part] for part in PARTS]
        assert seconds == list(range(seconds[0], seconds[0] + len(PARTS))), num_devices
        assert parts.keys() == {*PARTS}
        for replica in replicas:
            for p, q in zip(replica.parameters(), expected.parameters(), strict=True):
                torch.testing.assert_close(p, q - module.LR * q.grad)


def test_warm_up_steps_do_not_count():
    first, second = count(1), count(11)
    variants = {"book": lambda: {"load": next(first)}, "resident": lambda: {"load": next(second)}}
    taken = module._take_turns(variants, warm_up=2, count=3, process=0)
    assert taken == {"book": {"load": (3, 4, 5)}, "resident": {"load": (13, 14, 15)}}


def batch(size):
    generator = torch.Generator().manual_seed(1)
    return torch.rand(size, 1, 28, 28, generator=generator), torch.arange(size) % 10


def weights(shapes):
    generator = torch.Generator().manual_seed(0)
    return [0.3 * torch.randn(shape, generator=generator) for shape in shapes]


def test_a_step_on_two_shards_is_a_step_on_the_batch():
    params = [p.double() for p in weights(ONE_CHANNEL)]
    X, y = batch(5)
    X = X.double()
    replicas = copies(params, [CPU, CPU])
    step((X, y), replicas, [CPU, CPU])
    whole = [p.clone().requires_grad_() for p in params]
    F.cross_entropy(lenet(X, whole), y).backward()
    for p, *same in zip(whole, *replicas, strict=True):
        for replica in same:
            torch.testing.assert_close(replica, p - LR * p.grad)
