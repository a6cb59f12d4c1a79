import pytest
import torch

from lab.nets import lenet
from lab.nets.models import LENET_NAMES, MODELS, OnBytes


@pytest.mark.parametrize("name", MODELS)
def test_a_seed_fixes_every_weight_whatever_torchs_own_generator(name):
    first = MODELS[name](torch.Generator().manual_seed(3)).state_dict()
    torch.manual_seed(77)
    again = MODELS[name](torch.Generator().manual_seed(3)).state_dict()
    other = MODELS[name](torch.Generator().manual_seed(4)).state_dict()
    assert all(torch.equal(first[key], again[key]) for key in first)
    assert not all(torch.equal(first[key], other[key]) for key in first)


@pytest.mark.parametrize("name", MODELS)
def test_a_net_takes_images_and_gives_ten_logits(name):
    net = OnBytes(MODELS[name](torch.Generator()))
    assert net(torch.zeros(2, 28, 28, dtype=torch.uint8)).shape == (2, 10)


def test_lenet_is_the_books_parameters_and_function():
    net = MODELS["lenet"](torch.Generator().manual_seed(0))
    params = lenet.lenet_params(torch.Generator().manual_seed(0))
    assert list(net.state_dict()) == list(LENET_NAMES)
    assert all(torch.equal(p, q) for p, q in zip(net.parameters(), params, strict=True))
    X = torch.rand(3, 1, 28, 28)
    assert torch.equal(net(X), lenet.lenet(X, params))


def test_resnet18s_convolutions_lie_as_its_images_do():
    net = MODELS["resnet18"](torch.Generator())
    weights = [p for p in net.parameters() if p.ndim == 4]
    assert len(weights) == 20
    assert all(p.is_contiguous(memory_format=torch.channels_last) for p in weights)


def test_bf16_computes_with_other_numbers_and_keeps_weights_and_logits_in_float32():
    net = MODELS["lenet"](torch.Generator().manual_seed(0))
    with torch.no_grad():
        for p in net.parameters():
            p.mul_(10)
    X = torch.randint(0, 256, (8, 28, 28), dtype=torch.uint8)
    exact, rounded = OnBytes(net)(X), OnBytes(net, "bf16")(X)
    assert exact.dtype == rounded.dtype == net.W1.dtype == torch.float32
    assert not torch.equal(exact, rounded)
    assert (exact - rounded).abs().max() < 0.03 * exact.abs().max()
