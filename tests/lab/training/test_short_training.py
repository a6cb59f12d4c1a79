import math

import numpy as np
import pytest
import torch

from lab.data import synthetic
from lab.data.images import Images
from lab.nets.lenet import lenet_params
from lab.nets.models import to_float
from lab.optim import update_rules
from lab.training.short_training import (
    NOTHING_LEARNED,
    SmallLeNet,
    accuracy_or_chance,
    batches_of,
    diverged,
    finite_accuracy,
    he_lenet_params,
    num_features,
    sgd_steps,
)
from lab.training.update_steps import RuleSteps


def images_of(count, seed):
    X, y = synthetic.fashion(count, seed)
    return Images(to_float(torch.from_numpy(X)), torch.from_numpy(y.astype("int64")))


def test_he_initialization_learns_within_40_steps():
    generator = torch.Generator().manual_seed(0)
    net = SmallLeNet(generator, side=28)
    take = RuleSteps(lambda lr: update_rules.adam(lr))
    for _ in sgd_steps(net, batches_of(images_of(800, 0), 32, generator), [0.003] * 40, take):
        pass
    assert accuracy_or_chance(net, images_of(300, 1)) > 0.5


def test_lenet_has_its_own_fan_in_on_small_images_and_is_the_notes_on_large_ones():
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
        assert all(torch.equal(p, q) for p, q in zip(net.params, params, strict=True))
    assert of(14, notes_start=True).params[4].std().item() == pytest.approx(0.01, rel=0.05)


def test_accuracy_uses_evaluation_mode_and_leaves_the_net_unchanged():
    norm = torch.nn.BatchNorm1d(2)  # a single image has no variance in training mode
    norm.running_mean.copy_(torch.tensor([0.0, 10.0]))
    images = Images(torch.tensor([[5.0, 6.0]]), torch.tensor([0]))
    assert finite_accuracy(norm, images) == 1
    assert norm.training
    assert norm.num_batches_tracked == 0


def test_a_run_has_diverged_if_it_ends_no_better_than_a_constant_answer():
    good, bad = np.full(20, 1.0), np.full(20, 2.5)
    assert pytest.approx(math.log(10) * 0.98) == NOTHING_LEARNED
    assert diverged(bad)
    assert not diverged(good)
    assert diverged(np.array([1.0] * 19 + [math.inf]))
    assert not diverged(np.concatenate([bad, good])), "it came back"


def test_weights_that_are_not_finite_guess():
    """As one class in ten is right by chance; a NaN would take the whole finding away."""
    net, images = SmallLeNet(torch.Generator().manual_seed(0), side=28), images_of(50, 0)
    net.params[0].data.fill_(math.nan)
    assert math.isnan(finite_accuracy(net, images))
    assert accuracy_or_chance(net, images) == 0.1
