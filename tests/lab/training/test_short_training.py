import numpy as np
import torch

from lab.data import synthetic
from lab.data.images import to_float
from lab.nets.lenet import lenet
from lab.optim import update_rules
from lab.training.short_training import accuracy_after, scaled_lenet_params

TRAIN, TEST = synthetic.fashion(800, 0), synthetic.fashion(300, 1)
SETS = [(images, labels.astype(np.int64)) for images, labels in (TRAIN, TEST)]


def test_weights_are_scaled_by_their_fan_in():
    W1, b1, _, _, W3, *_ = scaled_lenet_params(torch.Generator().manual_seed(0))
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
    params = [p.requires_grad_() for p in scaled_lenet_params(generator)]
    X, y = to_float(torch.from_numpy(SETS[0][0])), torch.from_numpy(SETS[0][1])
    optimizer = torch.optim.SGD(params, 0.1)
    torch.nn.functional.cross_entropy(lenet(X, params), y).backward()
    optimizer.step()
    with torch.no_grad():
        logits = lenet(to_float(torch.from_numpy(SETS[1][0])), params)
    expected = (logits.argmax(1) == torch.from_numpy(SETS[1][1])).double().mean().item()
    ours = accuracy_after(update_rules.gd(0.1), *SETS, num_steps=1, batch_size=800, seed=0)
    assert abs(ours - expected) < 0.011
