from types import SimpleNamespace

import pytest
import torch

from lab.data import loaders
from lab.data.datasets import read_fashion_mnist
from lab.data.images import to_tensors
from lab.nets.models import MODELS
from lab.parallel.replicas import train_batch
from lab.timing import rates
from lab.training import notes_loop
from lab.training.run_params import NOTES
from lab.training.steps import replicas
from lab.training.steps.by_name import model_and_step
from lab.training.trainer import Trainer
from stages.bench_training.measure import loops
from stages.bench_training.measure.loops import notes_step, turn_of
from stages.bench_training.measure.variants import TrainingVariant, has_lightning
from tests.helpers import write_data

STEPS = 3
VARIANT = TrainingVariant(
    **NOTES.model_dump() | {"batch_size": 8}, kind="book", steps=STEPS, device="cpu", threads=1
)
IMAGES = 70  # 8 batches of 8, and one of 6


@pytest.fixture
def seconds(project, monkeypatch):
    """Yield a fake clock that stands still unless a test advances it."""
    write_data(project / "data", train=IMAGES, test=10)
    now = [0.0]
    for module in (loops, notes_loop):
        monkeypatch.setattr(module, "read_clock", lambda devices: now[0])
    loops.train_set.cache_clear()
    deterministic, threads = torch.backends.cudnn.deterministic, torch.get_num_threads()
    yield now
    loops.train_set.cache_clear()
    torch.backends.cudnn.deterministic = deterministic
    torch.set_num_threads(threads)


def counted(monkeypatch, owner, name, seconds):
    """Make each call of a function take 1 s on the fake clock, and return the list of calls."""
    calls, function = [], getattr(owner, name)

    def call(*arguments, **settings):
        calls.append(arguments)
        seconds[0] += 1
        return function(*arguments, **settings)

    monkeypatch.setattr(owner, name, call)
    return calls


def test_the_engine_takes_the_trainers_steps_in_a_new_order_in_each_turn(monkeypatch, seconds):
    taken, take = [], Trainer.take

    def remember(trainer, batches, rates, losses):
        assert torch.backends.cudnn.deterministic, "as in training"
        taken.append(batches)
        seconds[0] += len(batches)
        assert rates == [VARIANT.lr] * len(batches)
        return take(trainer, batches, rates, losses)

    torch.backends.cudnn.deterministic = False
    monkeypatch.setattr(Trainer, "take", remember)
    turn = turn_of(VARIANT.but(kind="engine", num_gpus=2, precision="bf16"))
    assert [turn(STEPS), turn(STEPS)] == [1.0, 1.0]
    assert [len(batches) for batches in taken] == [STEPS] * 2
    orders = [torch.cat(batches).tolist() for batches in taken]
    assert orders[0] != orders[1]
    assert all(len(set(order)) == 8 * STEPS for order in orders)


@pytest.mark.parametrize(
    ("kind", "owner", "name"),
    [
        ("book", notes_loop, "sgd"),
        ("plain", torch.optim.SGD, "step"),
        ("example", torch.optim.SGD, "step"),
        ("engine", replicas, "train_batch"),
        ("loop", loops, "split_batch"),
    ],
)
def test_a_turn_ends_with_its_epoch(monkeypatch, seconds, kind, owner, name):
    """Every variant takes all batches, also the smaller last one; the mean is over those taken."""
    turn = turn_of(VARIANT.but(kind=kind))
    calls = counted(monkeypatch, owner, name, seconds)
    assert turn(100) == 1.0
    assert len(calls) == 9
    assert turn(STEPS) == 1.0
    assert len(calls) == 9 + STEPS


@pytest.mark.skipif(not has_lightning(), reason="needs lightning: pip install -e '.[peers]'")
def test_lightning_takes_the_notes_steps(monkeypatch, seconds):
    """The batches are the same, and each turn starts an epoch."""
    from stages.bench_training.measure import lightning_loop

    variant, trained, told, asked = VARIANT.but(kind="lightning"), [], [], [STEPS, STEPS]
    batches = list(loaders.loader(loaders.book_images(), variant.batch_size, 0))
    in_order = torch.utils.data.DataLoader(batches, batch_size=None)
    monkeypatch.setattr(loaders, "loader", lambda *_: in_order)
    optimizer = lightning_loop.Net.configure_optimizers
    remember = lambda module: trained.append(module.net) or optimizer(module)  # noqa: E731
    monkeypatch.setattr(lightning_loop.Net, "configure_optimizers", remember)
    steps = counted(monkeypatch, torch.optim.SGD, "step", seconds)
    with pytest.raises(IndexError):  # no more turns are asked for
        lightning_loop.serve_lightning(variant, SimpleNamespace(recv=asked.pop, send=told.append))
    assert (told, len(steps)) == ([1.0, 1.0], 2 * STEPS)
    by_the_notes = variant.make_net()
    for _ in range(2):
        clock = notes_loop.EpochClock.of(variant.devices(), IMAGES, variant.batch_size, STEPS)
        notes_loop.notes_epoch(by_the_notes, batches, variant.lr, clock)
    [net] = trained
    for p, q in zip(net.parameters(), by_the_notes.parameters(), strict=True):
        torch.testing.assert_close(p, q)


@pytest.mark.parametrize(("kind", "ticks"), [("arithmetic", 3), ("copies", 2)])
def test_a_rate_is_that_of_the_fastest_call(monkeypatch, kind, ticks):
    """One call of the second piece of work takes 1 ms, every other call 1000 s."""
    monkeypatch.setattr(rates, "PRODUCT_ROWS", {"cpu": (10, 20)})
    monkeypatch.setattr(rates, "COPIED_MIB", {"cpu": (1, 2)})
    monkeypatch.setattr(rates, "IMAGES", {"cpu": 1})
    calls = iter([1e3, 1e3, 1e3, 1e-3, *[1e3] * 2 * (ticks - 2)])
    readings = (t for seconds in calls for t in (0.0, seconds))
    monkeypatch.setattr(rates, "read_clock", lambda devices: next(readings))
    amount = {"arithmetic": 2 * 20**3 / 1e9, "copies": 2 * 2 * 2**20 / 1e9}[kind]
    assert turn_of(VARIANT.but(kind=kind))(2) == pytest.approx(1e-3 / amount)


def test_the_notes_loop_over_devices_is_the_step_by_hand(seconds):
    """The weights are those of the library's step; the notes sum its gradients in this order."""
    images, labels = to_tensors(read_fashion_mnist("train"))
    devices = [torch.device("cpu")] * 2
    loop, threads = (
        model_and_step(MODELS["lenet"](torch.Generator().manual_seed(0)), devices, NOTES)[0]
        for _ in range(2)
    )
    loss = notes_step(loop)(images[:7], labels[:7], 0.5, 7)
    expected = train_batch(images[:7], labels[:7], threads.nets, devices, 0.5, threads.pool)
    torch.testing.assert_close(loss, torch.stack(expected).sum())
    for net, other in zip(loop.nets, threads.nets, strict=True):
        for p, q in zip(net.parameters(), other.parameters(), strict=True):
            torch.testing.assert_close(p, q)
