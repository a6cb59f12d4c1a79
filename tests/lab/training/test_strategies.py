import pytest
import torch

from lab.machine.devices import Devices
from lab.nets.models import MODELS
from lab.parallel.local_ranks import run_on_ranks
from lab.training.strategies.dataparallel import DataParallel
from lab.training.strategies.replicas import Replicas
from tests.lab.training.strategy_ranks import batch, found_by_rank

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def found():
    """What three ranks found, and then two, by the number of ranks."""
    return {n: run_on_ranks(n, Devices("cpu-virtual", [CPU] * n, 1), found_by_rank) for n in (3, 2)}


@pytest.mark.slow
def test_ddp_is_the_book_by_hand_also_with_uneven_and_empty_shards(found):
    """To the bit with two ranks, whose sums have one order; three ranks add, and DDP divides, in
    another one.
    """
    assert list(found) == [3, 2]
    for count, facts in found.items():
        for name, differences in facts["nets"].items():
            # float32: a summed loss of 150 has steps of 1.5e-5
            tolerance = 2e-5 if name == "lenet" else 1e-12
            assert all(value <= tolerance for value in differences.values()), (name, differences)
            exact = {differences[what] for what in ("weights", "buffers", "loaded")}
            assert count > 2 or exact == {0}, name


@pytest.mark.slow
def test_what_the_ranks_tell_each_other(found):
    for count, facts in found.items():
        told = facts["facts"]
        assert told["disagree"].startswith(
            f"rank(s) {list(range(1, count))} differ from rank 0 in code, data, params"
        )
        assert told["furthest"]
        assert told["largest"] == count - 8
        assert told["any"] == [True, False]
        assert told["shares"] == [1.0] * 9


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
