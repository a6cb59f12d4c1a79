from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lab import synthetic
from lab.errors import DivergedError
from lab.nets import lenet, lenet_params, to_float
from lab.training import epoch_order, evaluate, train

CPU = torch.device("cpu")


def softmax_regression(X, params):
    W, b = params
    return X.flatten(start_dim=1) @ W + b


ZEROS = [torch.zeros(784, 10), torch.zeros(10)]


def images(count, seed):
    X, y = synthetic.fashion(count, seed)
    return torch.from_numpy(X), torch.from_numpy(y).long()


TRAIN, TEST = images(600, 0), images(203, 1)


def run(net=softmax_regression, params=ZEROS, num_devices=1, num_epochs=3, lr=0.1, batch_size=64, seed=0, **more):
    """Train on virtual devices; return the epochs and copies of the weights after each."""
    results = train(net, params, TRAIN, TEST, [CPU] * num_devices, batch_size, lr, num_epochs, seed, **more)
    pairs = [(epoch, [p.detach().clone() for p in weights]) for epoch, weights in results]
    return [epoch for epoch, _ in pairs], [weights for _, weights in pairs]


@given(st.integers(0, 200), st.integers(0, 2**31 - 1), st.integers(1, 99))
def test_an_epochs_order_is_a_permutation_of_its_own(n, seed, epoch):
    order = epoch_order(n, seed, epoch)
    assert sorted(order.tolist()) == list(range(n))
    assert torch.equal(order, epoch_order(n, seed, epoch))
    if n > 20:
        assert not torch.equal(order, epoch_order(n, seed, epoch + 1))
        assert not torch.equal(order, epoch_order(n, (seed + 1) % 2**31, epoch))


def test_it_learns():
    epochs, _ = run(num_epochs=6)
    losses = [epoch.train_loss for epoch in epochs]
    assert losses == sorted(losses, reverse=True)
    assert epochs[-1].test_accuracy > 0.6
    assert all(epoch.seconds > 0 for epoch in epochs)


@pytest.mark.parametrize("num_devices", [1, 2])
def test_the_same_seed_gives_the_same_bits_and_another_seed_does_not(num_devices):
    arguments = {"net": lenet, "params": lenet_params(torch.Generator().manual_seed(0)), "num_epochs": 2}
    epochs, weights = run(num_devices=num_devices, **arguments)
    again, weights_again = run(num_devices=num_devices, **arguments)
    _, others = run(num_devices=num_devices, seed=1, **arguments)
    assert [(e.train_loss, e.test_accuracy) for e in epochs] == [(e.train_loss, e.test_accuracy) for e in again]
    assert all(torch.equal(p, q) for p, q in zip(weights[-1], weights_again[-1], strict=True))
    assert not all(torch.equal(p, q) for p, q in zip(weights[-1], others[-1], strict=True))


@pytest.mark.parametrize("num_devices", [2, 3, 7])
def test_several_devices_train_as_one_does(num_devices):
    (one, weights_one), (many, weights_many) = run(), run(num_devices=num_devices)
    for a, b in zip(one, many, strict=True):
        assert a.train_loss == pytest.approx(b.train_loss, rel=1e-5)
        assert a.test_accuracy == pytest.approx(b.test_accuracy, abs=0.01)
    for p, q in zip(weights_one[-1], weights_many[-1], strict=True):
        torch.testing.assert_close(p, q, rtol=1e-4, atol=1e-5)


def test_the_smaller_last_batch_is_kept():
    steps = []
    run(num_epochs=1, batch_size=256, on_step=steps.append)
    assert steps == [256, 256, 88]


def test_warming_up_leaves_the_weights_alone():
    """One epoch of one batch is the plain gradient step from the given weights."""
    _, [weights] = run(num_epochs=1, batch_size=600, lr=0.5)
    W, b = (p.clone().requires_grad_() for p in ZEROS)
    torch.nn.functional.cross_entropy(softmax_regression(to_float(TRAIN[0]), [W, b]), TRAIN[1]).backward()
    torch.testing.assert_close(weights[0], -0.5 * W.grad)
    torch.testing.assert_close(weights[1], -0.5 * b.grad)


@pytest.mark.parametrize("num_devices", [1, 3])
def test_evaluation_counts_each_image_once(num_devices):
    params = [torch.randn(784, 10, generator=torch.Generator().manual_seed(0)), torch.zeros(10)]
    right = softmax_regression(to_float(TEST[0]), params).argmax(1) == TEST[1]
    with ThreadPoolExecutor(num_devices) as pool:
        devices = [CPU] * num_devices
        accuracy = evaluate(
            to_float(TEST[0]), TEST[1], softmax_regression, [params] * num_devices, devices, pool, batch_size=50
        )
    assert accuracy == right.double().mean().item()


def test_leaving_the_finite_numbers_stops_with_the_epoch_and_the_rate():
    with pytest.raises(DivergedError, match=r"nan in epoch 1; lower lr \(it is 1e\+38\)") as error:
        run(lr=1e38)
    assert error.value.exit_code == 6
