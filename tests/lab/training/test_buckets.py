"""Buckets in which strategies sum gradients: one for each replica, and DistributedDataParallel's.

One rank will do for these, which are made and filled whatever the number of ranks.
"""

import pytest
import torch
from torch import nn
from torch._dynamo.backends.debugging import aot_eager

from lab.core.shared_params import LOOPBACK, DistributedParams
from lab.machine.devices import Devices
from lab.nets.models import MODELS
from lab.parallel import flat_bucket
from lab.parallel.launch import ADDRESS_VARIABLE, process_group, rendezvous_store
from lab.parallel.replicas import allreduce
from lab.training.strategies.processes import Ddp
from lab.training.strategies.replicas import Replicas
from tests.helpers import recipe
from tests.lab.training.strategy_ranks import batch

CPU = torch.device("cpu")


@pytest.fixture
def alone(monkeypatch, one_thread):
    """A process group of this process alone."""
    store, address = rendezvous_store(60)
    told = {"RANK": "0", "WORLD_SIZE": "1", ADDRESS_VARIABLE: address}
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    params = DistributedParams(nnodes=1, rdzv_endpoint=f"{LOOPBACK}:0", timeout_s=60)
    with process_group(Devices("cpu-virtual", [CPU], 1), CPU, params):
        yield
    del store


def lenet():
    return MODELS["lenet"](torch.Generator().manual_seed(0))


def test_replicas_sum_all_gradients_at_once(monkeypatch):
    summed = []

    def noted(data):
        summed.append([len(bucket) for bucket in data])
        allreduce(data)

    monkeypatch.setattr(flat_bucket, "allreduce", noted)
    strategy = Replicas(lenet(), [CPU] * 3)
    strategy.step(*batch(8), 0.1, 8)
    strategy.close()
    assert summed == [[129_068] * 3]


def test_gradients_are_parts_of_a_bucket_and_not_copied_back(alone):
    strategy, seen = Ddp(lenet(), [CPU]), []
    [update] = strategy.updates

    def look(params, lr, batch_size):
        listed = list(params)
        seen.append({p.grad.untyped_storage().data_ptr() for p in listed})
        update(listed, lr, batch_size)

    strategy.updates = [look]
    for _ in range(3):
        strategy.step(*batch(8), 0.1, 8)
    strategy.close()
    assert len(seen[-1]) == 1, "half a megabyte: one bucket"


def test_a_compiled_net_is_cut_where_buckets_end(alone, monkeypatch):
    """So that a bucket is summed while the others are computed.

    The net is compiled in its first step, which the wrapper takes: torch sees whose net it is, and
    cuts it as it does where the wrapper is compiled.
    """
    graphs, compiler = [], torch.compile

    def counted(graph, inputs):
        graphs.append(graph)
        return aot_eager(graph, inputs)

    def only_traced(model, mode, dynamic):
        return compiler(model, backend=counted, dynamic=dynamic)

    monkeypatch.setattr(torch, "compile", only_traced)
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Flatten(), nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.Linear(1024, 10)
    )
    weights = []
    for mode in ("none", "default"):
        strategy = Ddp(net, [CPU], recipe(compile=mode))
        for _ in range(2):
            strategy.step(*batch(8), 0.1, 8)
        weights.append(list(strategy.state()["params"].values()))
        strategy.close()
    assert len(graphs) > 1
    for p, q in zip(*weights, strict=True):
        torch.testing.assert_close(p, q)
