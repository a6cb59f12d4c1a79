import math

import numpy as np
import pytest
import torch

from lab.data import synthetic
from lab.data.images import Images
from lab.nets.lenet import lenet, lenet_params
from lab.nets.models import to_float
from lab.optim import update_rules
from lab.training.short_training import (
    NOTHING_LEARNED,
    SmallLeNet,
    accuracy_after,
    constant_answer,
    diverged,
    finite_accuracy,
    he_lenet_params,
    make_net,
    num_features,
)

TRAIN, TEST = synthetic.fashion(800, 0), synthetic.fashion(300, 1)
SETS = [(images, labels.astype(np.int64)) for images, labels in (TRAIN, TEST)]


def test_weights_are_scaled_by_their_fan_in():
    W1, b1, _, _, W3, *_ = he_lenet_params(torch.Generator().manual_seed(0))
    assert abs(W1.std().item() / (2 / 9) ** 0.5 - 1) < 0.15
    assert abs(W3.std().item() / (2 / 800) ** 0.5 - 1) < 0.02
    assert not b1.any()


def test_it_learns_at_once():
    rule = update_rules.adam(0.003)
    assert accuracy_after(rule, *SETS, num_steps=40, batch_size=32, seed=0) > 0.5


def test_it_repeats_to_the_bit():
    rule = update_rules.adam(0.003)
    first, again = (
        accuracy_after(rule, *SETS, num_steps=4, batch_size=64, seed=0) for _ in range(2)
    )
    assert first == again


def test_weights_that_are_no_longer_finite_count_as_chance():
    assert accuracy_after(update_rules.gd(1e30), *SETS, num_steps=4, batch_size=64, seed=0) == 0.1


def test_a_plain_step_is_torchs():
    """One step of SGD on one batch of everything is that of torch.optim."""
    generator = torch.Generator().manual_seed(0)
    params = [p.requires_grad_() for p in he_lenet_params(generator)]
    X, y = to_float(torch.from_numpy(SETS[0][0])), torch.from_numpy(SETS[0][1])
    optimizer = torch.optim.SGD(params, 0.1)
    torch.nn.functional.cross_entropy(lenet(X, params), y).backward()
    optimizer.step()
    with torch.no_grad():
        logits = lenet(to_float(torch.from_numpy(SETS[1][0])), params)
    expected = (logits.argmax(1) == torch.from_numpy(SETS[1][1])).double().mean().item()
    ours = accuracy_after(update_rules.gd(0.1), *SETS, num_steps=1, batch_size=800, seed=0)
    assert abs(ours - expected) < 0.011


def test_lenet_on_small_images_has_its_own_fan_in_and_on_large_ones_is_the_notes():
    def of(side, **start):
        return SmallLeNet(torch.Generator().manual_seed(0), side, **start)

    assert [num_features(side) for side in (14, 28)] == [50, 800]
    assert of(14)(torch.rand(3, 1, 14, 14)).shape == (3, 10)
    assert of(14).params[4].shape == (50, 128)
    assert of(14).params[4].std().item() == pytest.approx((2 / 50) ** 0.5, rel=0.05)
    for net, params in (
        (of(28), he_lenet_params(torch.Generator().manual_seed(0))),
        (of(28, notes_start=True), lenet_params(torch.Generator().manual_seed(0))),
    ):
        for p, q in zip(net.params, params, strict=True):
            assert torch.equal(p, q)
    assert of(14, notes_start=True).params[4].std().item() == pytest.approx(0.01, rel=0.05)


def test_accuracy_is_the_share_of_right_labels_and_nan_without_finite_logits():
    images = Images(torch.eye(4), torch.tensor([0, 1, 0, 3]))
    assert finite_accuracy(torch.nn.Identity(), images) == 0.75
    assert math.isnan(finite_accuracy(torch.nn.Identity(), images._replace(X=images.X / 0)))


def test_accuracy_is_that_of_evaluation_and_leaves_the_net_as_it_was():
    norm = torch.nn.BatchNorm1d(2)  # of one image alone training would make zeros
    norm.running_mean.copy_(torch.tensor([0.0, 10.0]))
    images = Images(torch.tensor([[5.0, 6.0]]), torch.tensor([0]))
    assert finite_accuracy(norm, images) == 1
    assert norm.training
    assert norm.num_batches_tracked == 0


def test_lenet_is_made_for_small_images_and_resnet18_takes_any():
    for name in ("lenet", "resnet18"):
        net = make_net(name, torch.Generator().manual_seed(0), 14)
        assert net(torch.rand(2, 1, 14, 14)).shape == (2, 10)


def test_a_run_has_diverged_if_it_ends_no_better_than_a_constant_answer():
    good, bad = np.full(20, 1.0), np.full(20, 2.5)
    assert pytest.approx(math.log(10) * 0.98) == NOTHING_LEARNED
    assert diverged(bad)
    assert not diverged(good)
    assert diverged(np.array([1.0] * 19 + [math.inf]))
    assert not diverged(np.concatenate([bad, good])), "it came back"


def test_a_constant_answer_is_right_for_the_commonest_label():
    assert constant_answer(Images(torch.zeros(5, 1), torch.tensor([3, 1, 3, 0, 3]))) == 0.6
