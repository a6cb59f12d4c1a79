import pytest
import torch
from torch import nn

from lab.nets.flops import forward_cost, training_flop
from lab.nets.models import MODELS


@pytest.fixture(scope="module")
def nets() -> dict[str, nn.Module]:
    return {name: make(torch.Generator()) for name, make in MODELS.items()}


def test_a_dense_layer_by_hand():
    cost = forward_cost(nn.Linear(30, 20), (5, 30))
    assert cost.flop == 2 * 5 * 30 * 20
    assert cost.num_bytes == 4 * (5 * 30 + 30 * 20 + 20 + 5 * 20)
    assert cost.params == 30 * 20 + 20
    assert cost.intensity == cost.flop / cost.num_bytes


def test_learning_a_dense_layer_by_hand():
    """Two layers: the first needs no gradient of its inputs."""
    net = nn.Sequential(nn.Linear(30, 20), nn.Linear(20, 10))
    assert training_flop(net, (5, 30)) == 2 * 5 * (2 * 30 * 20 + 3 * 20 * 10)


def test_views_move_nothing():
    assert forward_cost(nn.Flatten(), (2, 3, 4)).num_bytes == 0


def test_the_notes_networks(nets):
    for name, flop, params in (("lenet", 4.50e6, 129_068), ("resnet18", 0.912e9, 11_175_818)):
        cost = forward_cost(nets[name], (3, 1, 28, 28))
        assert cost.flop / 3 == pytest.approx(flop, rel=1e-3), name
        assert cost.params == params, name


def test_what_an_image_takes_to_learn_from(nets):
    for name, flop in (("lenet", 13.26e6), ("resnet18", 2.734e9)):
        net = nets[name].train()
        assert training_flop(net, (1, 1, 28, 28)) == pytest.approx(flop, rel=1e-3), name
        assert training_flop(net.eval(), (3, 1, 28, 28)) == 3 * training_flop(net, (1, 1, 28, 28))


def test_the_network_itself_is_left_alone(nets):
    net = nets["lenet"].train()
    before = {name: p.clone() for name, p in net.named_parameters()}
    forward_cost(net, (1, 1, 28, 28))
    training_flop(net, (1, 1, 28, 28))
    for name, p in net.named_parameters():
        assert p.device.type == "cpu", name
        assert p.grad is None, name
        assert torch.equal(p, before[name]), name
