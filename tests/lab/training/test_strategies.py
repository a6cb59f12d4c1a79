import pytest
import torch

from lab.machine.devices import Devices
from lab.nets.models import MODELS
from lab.parallel.local_ranks import run_on_ranks
from lab.training.run_params import NOTES
from lab.training.steps.by_name import model_and_step
from tests.lab.training.strategy_ranks import batch, found_by_rank
from tests.oracle import assert_close, assert_same

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def found():
    """Return what three ranks, and then two, found, by the number of ranks."""
    return {n: run_on_ranks(n, Devices("cpu-virtual", [CPU] * n, 1), found_by_rank) for n in (3, 2)}


@pytest.mark.slow
def test_ddp_matches_the_notes_code_even_with_uneven_and_empty_shards(found):
    """Bit-for-bit with two ranks; with three, the orders of sums and divisions differ."""
    assert list(found) == [3, 2]
    for count, facts in found.items():
        for name, differences in facts["nets"].items():
            # float32: a summed loss of 150 has steps of 1.5e-5
            tolerance = 2e-5 if name == "lenet" else 1e-12
            assert all(value <= tolerance for value in differences.values()), (name, differences)
            exact = {differences[what] for what in ("weights", "buffers", "loaded")}
            assert count > 2 or exact == {0}, name


@pytest.mark.slow
def test_ranks_exchange_what_they_know(found):
    for count, facts in found.items():
        told = facts["facts"]
        assert told["disagree"].startswith(
            f"rank(s) {list(range(1, count))} differ from rank 0 in code, data, params"
        )
        assert told["latest_checkpoint"]
        assert told["largest"] == count - 8.5
        assert (told["first"], told["gathered"]) == ([0], list(range(count)))
        assert told["shares"] == [1.0] * 9


@pytest.mark.slow
def test_ranks_save_after_the_same_steps_whatever_their_clocks_say(found):
    for facts in found.values():
        first, *others = facts["pause"]["places"]
        steps = 10
        in_epoch = range(1, steps)
        assert first == [*in_epoch, 1 << 32, *(1 << 32 | step for step in in_epoch), 2 << 32]
        assert all(places == first for places in others)
        assert facts["pause"]["warm_up"] == 0


@pytest.mark.skipif(torch.cuda.is_available(), reason="there it splits")
def test_dataparallel_without_gpus_is_one_device():
    net = MODELS["lenet"](torch.Generator().manual_seed(0))
    (one, step), (wrapped, its) = (
        model_and_step(net, [CPU] * count, NOTES.but(strategy=strategy))
        for count, strategy in ((1, "replicas"), (2, "dataparallel"))
    )
    assert wrapped.devices == [CPU]
    rows = torch.arange(32)
    assert torch.equal(step(batch(32), rows, 0.1, 32), its(batch(32), rows, 0.1, 32))
    assert_same(one.nets[0], wrapped.nets[0])
    for model in (one, wrapped):
        model.close()


@pytest.mark.gpu
@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="fewer than two CUDA GPUs")
def test_dataparallel_on_two_gpus_matches_replicas_within_tf32_tolerance():
    gpus = [torch.device("cuda", i) for i in range(2)]
    net = MODELS["lenet"](torch.Generator().manual_seed(0))
    (by_hand, step), (wrapped, its) = (
        model_and_step(net, gpus, NOTES.but(strategy=strategy))
        for strategy in ("replicas", "dataparallel")
    )
    X, y = (tensor.to(gpus[0]) for tensor in batch(33))
    losses = (each((X, y), torch.arange(33, device=gpus[0]), 0.1, 33) for each in (step, its))
    torch.testing.assert_close(*losses, rtol=1e-2, atol=1e-3)
    assert_close(by_hand.nets[0], wrapped.nets[0], rtol=1e-2, atol=1e-3)
