import functools
from itertools import count

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from lab.core.errors import DivergedError
from lab.data import synthetic
from lab.data.order import epoch_order
from lab.nets.models import LeNet, to_float
from lab.optim.schedules import named, per_step
from lab.training import loop
from lab.training.loop import Progress, predict, train
from lab.training.run_params import NOTES
from lab.training.steps.by_name import model_and_step
from lab.training.trainer import Trainer
from tests.helpers import recipe

CPU = torch.device("cpu")


def softmax_regression() -> nn.Module:
    net = nn.Sequential(nn.Flatten(), nn.Linear(784, 10))
    for param in net.parameters():
        nn.init.zeros_(param)
    return net


def small_batch_norm_net(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, 2),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(2),
        nn.Flatten(),
        nn.Linear(16, 10),
    )


def images(count, seed):
    X, y = synthetic.fashion(count, seed)
    return torch.from_numpy(X), torch.from_numpy(y).long()


TRAIN, TEST = images(600, 0), images(203, 1)
SMALL = (TRAIN[0][:150], TRAIN[1][:150])  # two batches and a smaller one


def run(
    net=None,
    num_devices=1,
    num_epochs=3,
    lr=0.1,
    batch_size=64,
    seed=0,
    train_set=TRAIN,
    how=None,
    **more,
):
    """Train on virtual devices; return the epochs, and the (progress, state) of each yield."""
    net = softmax_regression() if net is None else net
    asked = {"batch_size": batch_size, "lr": lr, "num_epochs": num_epochs, **(how or {})}
    model, step = model_and_step(net, [CPU] * num_devices, NOTES.but(**asked))
    if "state" in more:
        model.load_state(more.pop("state"))
    results = train(Trainer(model, step, train_set), TEST, seed, **more)
    yields = [(progress, model.state()) for progress in results]
    model.close()
    return yields[-1][0].epochs, yields


def same_state(a, b):
    pairs = zip([a["params"], *a["buffers"]], [b["params"], *b["buffers"]], strict=True)
    return all(torch.equal(p[name], q[name]) for p, q in pairs for name in p)


def results_of(epochs):
    return [(e.epoch, e.train_loss, e.test_accuracy) for e in epochs]


@given(st.integers(0, 200), st.integers(0, 2**31 - 1), st.integers(1, 99))
def test_each_epoch_has_its_own_permutation(n, seed, epoch):
    order = epoch_order(n, seed, epoch)
    assert sorted(order.tolist()) == list(range(n))
    assert torch.equal(order, epoch_order(n, seed, epoch))
    if n > 20:
        assert not torch.equal(order, epoch_order(n, seed, epoch + 1))
        assert not torch.equal(order, epoch_order(n, (seed + 1) % 2**31, epoch))
        assert not torch.equal(order, epoch_order(n, seed + 1, epoch - 1))


def test_the_loss_of_an_epoch_is_the_mean_over_its_images():
    """Also if the last batch is smaller; the learning rate changes next to nothing."""
    net = softmax_regression()
    with torch.no_grad():
        net[1].weight.normal_(std=0.01, generator=torch.Generator().manual_seed(0))
    expected = nn.functional.cross_entropy(net(to_float(TRAIN[0])), TRAIN[1]).item()
    [epoch], _ = run(net, num_epochs=1, lr=1e-9, num_devices=2)
    assert epoch.train_loss == pytest.approx(expected, rel=1e-5)


def test_it_learns():
    epochs, _ = run(num_epochs=6)
    losses = [epoch.train_loss for epoch in epochs]
    assert losses == sorted(losses, reverse=True)
    assert epochs[-1].test_accuracy > 0.6
    assert all(epoch.seconds > 0 for epoch in epochs)
    assert [epoch.epoch for epoch in epochs] == [1, 2, 3, 4, 5, 6]


def test_the_same_seed_gives_the_same_bits_and_a_different_one_does_not():
    """Also with two threads per device."""
    for make in (lambda: LeNet(torch.Generator().manual_seed(0)), small_batch_norm_net):
        for num_devices in (1, 2):
            torch.set_num_threads(2 // num_devices)
            first, again, other = (
                run(make(), num_devices, num_epochs=2, seed=seed, train_set=SMALL)
                for seed in (0, 0, 1)
            )
            what = f"{type(make()).__name__} on {num_devices}"
            assert results_of(first[0]) == results_of(again[0]), what
            assert same_state(first[1][-1][1], again[1][-1][1]), what
            assert not same_state(first[1][-1][1], other[1][-1][1]), what


def test_several_devices_train_as_one_does():
    one, yields_one = run()
    for num_devices in (2, 3, 7):
        many, yields_many = run(num_devices=num_devices)
        for a, b in zip(one, many, strict=True):
            assert a.train_loss == pytest.approx(b.train_loss, rel=1e-5)
            assert a.test_accuracy == pytest.approx(b.test_accuracy, abs=0.01)
        for name, p in yields_one[-1][1]["params"].items():
            torch.testing.assert_close(p, yields_many[-1][1]["params"][name], rtol=1e-4, atol=1e-5)


def test_the_smaller_last_batch_is_kept():
    steps = []
    run(num_epochs=1, batch_size=256, on_step=steps.append)
    assert steps == [256, 256, 88]


def test_warming_up_leaves_the_weights_alone():
    """One epoch of one batch is the plain gradient step from the given weights."""
    _, [(_, state)] = run(num_epochs=1, batch_size=600, lr=0.5)
    net = softmax_regression()
    nn.functional.cross_entropy(net(to_float(TRAIN[0])), TRAIN[1]).backward()
    for name, param in net.named_parameters():
        torch.testing.assert_close(state["params"][name], -0.5 * param.grad)


@pytest.mark.parametrize("num_devices", [1, 3])
def test_prediction_uses_the_first_replica_in_evaluation_mode_and_keeps_the_order(num_devices):
    net = small_batch_norm_net()
    model, step = model_and_step(net, [CPU] * num_devices, recipe())
    rows = torch.arange(len(TRAIN[0]))
    step(TRAIN, rows, 0.1, len(rows))  # the replicas' running statistics now differ
    first = model.nets[0]
    expected = first.eval()(TEST[0])
    first.train()
    torch.testing.assert_close(predict(model, TEST[0], batch_size=50), expected)
    assert all(net.training for net in model.nets)
    model.close()


@pytest.fixture
def saves_after_each_step(monkeypatch):
    monkeypatch.setattr(loop, "SAVE_EVERY_S", 0.0)


@functools.cache
def undisturbed(num_devices):
    return run(small_batch_norm_net(), num_devices)


@pytest.mark.parametrize("num_devices", [1, 2])
@pytest.mark.parametrize("after", [1, 13, 20, 29])
def test_an_interrupted_run_resumes_to_the_same_bits(
    num_devices, after, saves_after_each_step, monkeypatch
):
    """With 10 steps per epoch: within an epoch, at its end, or one step before the run's end.

    Each part of an epoch takes a second, as the clock advances when it is read.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "SAVE_EVERY_S", 3600.0)
        whole, yields = undisturbed(num_devices)
    assert len(yields) == 3
    readings = count()
    monkeypatch.setattr(loop, "read_clock", lambda devices: next(readings))
    saved = run(small_batch_norm_net(), num_devices)[1]
    progress, state = saved[after - 1]
    assert len(progress.epochs) * 10 + len(progress.losses) == after
    written = Progress.from_state(progress.state())
    resumed, rest = run(small_batch_norm_net(seed=1), num_devices, state=state, progress=written)
    assert results_of(resumed) == results_of(whole)
    assert same_state(rest[-1][1], yields[-1][1])
    assert [e.epoch for e in resumed if e.resumed] == ([after // 10 + 1] if after % 10 else [])
    assert [e.seconds for e in resumed] == [10, 10, 10]


HOW = {
    "optimizer": "nesterov",
    "schedule": "one_cycle",
    "augment": "shift",
    "label_smoothing": 0.1,
    "weight_decay": 0.01,
}


def test_momentum_decay_one_cycle_and_smoothed_labels_match_torch():
    _, yields = run(num_epochs=2, how=HOW | {"augment": "none"})
    net = softmax_regression()
    weights, others = ([p for p in net.parameters() if (p.ndim > 1) == many] for many in (1, 0))
    groups = [{"params": weights, "weight_decay": 0.01}, {"params": others}]
    optimizer = torch.optim.SGD(groups, 0.1, momentum=0.9, nesterov=True)
    rates = iter(per_step(named("one_cycle", 0.1, 2), 2, 10))
    for epoch in (1, 2):
        for rows in epoch_order(len(TRAIN[1]), 0, epoch).split(64):
            rate = next(rates)
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.zero_grad()
            logits = net(to_float(TRAIN[0][rows]))
            F.cross_entropy(logits, TRAIN[1][rows], label_smoothing=0.1).backward()
            optimizer.step()
    found = yields[-1][1]["params"]
    for name, expected in net.named_parameters():
        torch.testing.assert_close(found[name], expected.detach(), rtol=1e-4, atol=1e-6)


def test_a_finished_run_has_nothing_left_to_do():
    _, yields = run()
    progress, state = yields[-1]
    asked = recipe(batch_size=64, lr=0.1, num_epochs=3)
    model, step = model_and_step(softmax_regression(), [CPU], asked)
    model.load_state(state)
    assert list(train(Trainer(model, step, TRAIN), TEST, 0, progress)) == []
    model.close()


def test_a_non_finite_loss_stops_the_run_and_names_the_step_and_the_rate():
    with pytest.raises(
        DivergedError, match=r"the loss is nan in epoch 1, step 2; lower lr \(it is 1e\+38\)"
    ) as error:
        run(lr=1e38)
    assert error.value.exit_code == 6
