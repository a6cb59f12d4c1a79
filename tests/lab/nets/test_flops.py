import pytest
import torch
from torch import nn

from lab.nets.flops import forward_cost, training_flop
from lab.nets.models import MODELS


def test_dense_layer_by_hand():
    cost = forward_cost(nn.Linear(30, 20), (5, 30))
    assert cost.flop == 2 * 5 * 30 * 20
    assert cost.num_bytes == 4 * (5 * 30 + 30 * 20 + 20 + 5 * 20)
    assert cost.params == 30 * 20 + 20
    assert cost.intensity == cost.flop / cost.num_bytes


def test_training_dense_layers_by_hand():
    """Two layers: the first needs no gradient of its inputs."""
    net = nn.Sequential(nn.Linear(30, 20), nn.Linear(20, 10))
    assert training_flop(net, (5, 30)) == 2 * 5 * (2 * 30 * 20 + 3 * 20 * 10)


def test_views_move_nothing():
    assert forward_cost(nn.Flatten(), (2, 3, 4)).num_bytes == 0


@pytest.mark.parametrize(
    ("name", "params", "forward", "training"),
    [("lenet", 129_068, 4.50e6, 13.26e6), ("resnet18", 11_175_818, 0.912e9, 2.734e9)],
)
def test_the_notes_networks_have_known_costs(name, params, forward, training):
    """FLOP are per image; counting changes nothing in the network."""
    net = MODELS[name](torch.Generator()).train()
    before = {name: p.clone() for name, p in net.named_parameters()}
    cost = forward_cost(net, (3, 1, 28, 28))
    assert cost.flop / 3 == pytest.approx(forward, rel=1e-3)
    assert cost.params == params
    assert training_flop(net, (1, 1, 28, 28)) == pytest.approx(training, rel=1e-3)
    assert training_flop(net.eval(), (3, 1, 28, 28)) == 3 * training_flop(net, (1, 1, 28, 28))
    for name, p in net.named_parameters():
        assert p.grad is None, name
        assert torch.equal(p, before[name]), name
