import pytest
import torch
from torch import nn

from lab.nets.flops import forward_cost, training_flop
from lab.nets.models import MODELS


def test_a_dense_layer_by_hand():
    cost = forward_cost(nn.Linear(30, 20), (5, 30))
    assert cost.flop == 2 * 5 * 30 * 20
    assert cost.num_bytes == 4 * (5 * 30 + 30 * 20 + 20 + 5 * 20)
    assert cost.params == 30 * 20 + 20


def test_views_move_nothing():
    assert forward_cost(nn.Flatten(), (2, 3, 4)).num_bytes == 0


@pytest.mark.parametrize(
    ("name", "flop", "params"), [("lenet", 4.50e6, 129_068), ("resnet18", 0.912e9, 11_175_818)]
)
def test_the_notes_networks(name, flop, params):
    net = MODELS[name](torch.Generator().manual_seed(0)).eval()
    cost = forward_cost(net, (3, 1, 28, 28))
    assert cost.flop / 3 == pytest.approx(flop, rel=1e-3)
    assert cost.params == params
    assert cost.intensity == cost.flop / cost.num_bytes
    assert all(p.device.type == "cpu" for p in net.parameters()), "the network itself is left alone"


@pytest.mark.parametrize(("name", "flop"), [("lenet", 13.26e6), ("resnet18", 2.734e9)])
def test_what_an_image_takes_to_learn_from(name, flop):
    net = MODELS[name](torch.Generator().manual_seed(0)).eval()
    assert training_flop(net, (3, 1, 28, 28)) / 3 == pytest.approx(flop, rel=1e-3)
    assert all(p.grad is None for p in net.parameters()), "the network itself is left alone"
