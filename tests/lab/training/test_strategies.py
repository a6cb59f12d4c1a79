import json
import subprocess
import sys

import pytest
import torch

from lab.machine.devices import missing_compiler
from lab.nets.models import MODELS
from lab.training.strategies import DataParallel, Replicas
from tests.helpers import ROOT
from tests.lab.training.strategy_ranks import batch

CPU = torch.device("cpu")


@pytest.fixture(scope="module", params=[2, 3])
def ranks(request, tmp_path_factory):
    """What two and three ranks found, in processes of their own."""
    file = tmp_path_factory.mktemp("ranks") / "found.json"
    program = f"""
from lab.parallel.launch import DistributedParams, launch
params = DistributedParams(nnodes=1, rdzv_endpoint="127.0.0.1:0", timeout_s=60)
launch("tests.lab.training.strategy_ranks", {str(file)!r}, {request.param}, params, threads=1)
"""
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, timeout=120)
    return request.param, json.loads(file.read_text())


def test_ddp_is_the_book_by_hand_also_with_uneven_and_empty_shards(ranks):
    """To the bit with two ranks, whose sums have one order; three ranks add, and DDP divides, in
    another one.
    """
    count, found = ranks
    for name, differences in found["nets"].items():
        # float32: a summed loss of 150 has steps of 1.5e-5
        tolerance = 2e-5 if name == "lenet" else 1e-12
        assert all(value <= tolerance for value in differences.values()), (name, differences)
        if count == 2:
            assert differences["weights"] == differences["buffers"] == differences["loaded"] == 0, (
                name
            )


def test_what_the_ranks_tell_each_other(ranks):
    count, found = ranks
    disagree = found["facts"].pop("disagree")
    assert found["facts"] == {"broadcast": True, "any": [True, False], "shares": [1.0] * 9}
    assert disagree.startswith(
        f"rank(s) {list(range(1, count))} differ from rank 0 in code, data, params"
    )


@pytest.mark.skipif(torch.cuda.is_available(), reason="there it splits")
def test_dataparallel_without_gpus_is_one_device():
    net = MODELS["lenet"](torch.Generator().manual_seed(0))
    one, wrapped = Replicas(net, [CPU]), DataParallel(net, [CPU, CPU])
    assert wrapped.devices == [CPU]
    X, y = batch(32)
    assert torch.equal(one.step(X, y, 0.1, 32), wrapped.step(X, y, 0.1, 32))
    for p, q in zip(one.nets[0].parameters(), wrapped.nets[0].parameters(), strict=True):
        assert torch.equal(p, q)
    for strategy in (one, wrapped):
        strategy.close()


@pytest.mark.skipif(bool(missing_compiler()), reason="no C++ compiler")
def test_a_compiled_net_takes_the_same_steps_up_to_rounding_also_in_two_threads():
    net = MODELS["lenet"](torch.Generator().manual_seed(0))
    eager, compiled = Replicas(net, [CPU, CPU]), Replicas(net, [CPU, CPU], compile_mode="default")
    for X, y in (batch(16), batch(16)):
        losses = [float(strategy.step(X, y, 0.1, 16)) for strategy in (eager, compiled)]
        assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    for p, q in zip(eager.nets[0].parameters(), compiled.nets[1].parameters(), strict=True):
        assert torch.allclose(p, q, rtol=1e-4, atol=1e-6)
    assert all(net._compiled_call_impl is not None for net in compiled.nets)
    assert all(net._compiled_call_impl is None for net in compiled.evaluators()), (
        "other sizes would compile anew"
    )
    for strategy in (eager, compiled):
        strategy.close()


def test_a_strategy_trains_a_copy_and_its_state_is_one_too():
    net = MODELS["lenet"](torch.Generator().manual_seed(0))
    strategy = Replicas(net, [CPU, CPU])
    before = strategy.state()
    strategy.step(*batch(32), 0.1, 32)
    assert all(torch.equal(before["params"][name], p) for name, p in net.named_parameters())
    strategy.load_state(before)
    after = strategy.state()
    assert all(torch.equal(before["params"][name], p) for name, p in after["params"].items())
    strategy.close()


@pytest.mark.gpu
@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="fewer than two CUDA GPUs")
def test_dataparallel_on_two_gpus_is_the_step_by_hand_within_tf32_tolerance():
    gpus = [torch.device("cuda", i) for i in range(2)]
    net = MODELS["lenet"](torch.Generator().manual_seed(0))
    by_hand, wrapped = Replicas(net, gpus), DataParallel(net, gpus)
    X, y = (tensor.to(gpus[0]) for tensor in batch(33))
    torch.testing.assert_close(
        by_hand.step(X, y, 0.1, 33), wrapped.step(X, y, 0.1, 33), rtol=1e-2, atol=1e-3
    )
    for p, q in zip(by_hand.nets[0].parameters(), wrapped.nets[0].parameters(), strict=True):
        torch.testing.assert_close(p, q, rtol=1e-2, atol=1e-3)
