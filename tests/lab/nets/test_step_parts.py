from itertools import count

import pytest
import torch
from torch import nn

from lab.nets.flops import training_flop
from lab.nets.lenet import lenet
from lab.nets.models import MODELS
from lab.nets.step_parts import (
    CONVOLUTIONS,
    OTHER,
    POOLING,
    TO_INPUTS,
    TO_WEIGHTS,
    StepParts,
    filled,
)


def parts_of(net, X):
    """Return the parts of a forward and backward pass; the clock ticks once per reading."""
    ticks = count()
    with StepParts(16, lambda: float(next(ticks))) as seen:
        net(X).sum().backward()
    return seen.parts


def test_a_convolution_by_hand():
    """20 channels fill 20 of 32 places, 50 fill 50 of 64; input gradients have the input's 20."""
    layer = nn.Conv2d(20, 50, 5, bias=False)
    X = torch.rand(3, 20, 12, 12, requires_grad=True)
    parts = parts_of(layer, X)
    flop = 2 * 3 * 8**2 * 50 * 20 * 5**2
    outputs, inputs, weights = (4 * n for n in (3 * 50 * 8**2, X.numel(), layer.weight.numel()))
    for kind, places in ((CONVOLUTIONS, 64 / 50), (TO_WEIGHTS, 64 / 50), (TO_INPUTS, 32 / 20)):
        assert parts[kind].flop == flop
        assert parts[kind].vector_flop == pytest.approx(flop * places)
        assert parts[kind].seconds == 1
    assert parts[CONVOLUTIONS].num_bytes == inputs + weights + outputs
    assert parts[TO_INPUTS].num_bytes == outputs + 2 * inputs + weights
    assert parts[TO_WEIGHTS].num_bytes == outputs + inputs + 2 * weights


@pytest.mark.parametrize(("channels", "share"), [(16, 1), (17, 17 / 32), (1, 1 / 16), (0, 1)])
def test_filled_is_the_used_share_of_vectors(channels, share):
    assert filled(channels, 16) == share


def test_gradients_are_unchanged_and_flop_match_torchs_count():
    params = [p.requires_grad_() for p in MODELS["lenet_he"](torch.Generator()).parameters()]
    X = torch.rand(2, 1, 26, 26)
    lenet(X, params).sum().backward()
    expected = [p.grad for p in params]
    for p in params:
        p.grad = None
    parts = parts_of(lambda X: lenet(X, params), X)
    assert all(torch.equal(p.grad, g) for p, g in zip(params, expected, strict=True))
    flop = training_flop(MODELS["lenet_he"](torch.Generator()), (2, 1, 26, 26))
    assert sum(part.flop for part in parts.values()) == flop
    assert parts[POOLING].seconds == 4, "two layers, both ways"
    assert parts[POOLING].flop == parts[OTHER].flop == 0
