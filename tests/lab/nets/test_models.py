from typing import get_args

import pytest
import torch
from torch import nn

from lab.core.shared_params import NetName
from lab.nets import lenet
from lab.nets.models import LENET_NAMES, MODELS, OnBytes, seen_side, to_float


@pytest.fixture(scope="module")
def nets() -> dict[str, nn.Module]:
    """Each network of one seed; no test changes them."""
    return {name: make(torch.Generator().manual_seed(3)) for name, make in MODELS.items()}


def test_a_seed_fixes_every_weight_whatever_torchs_own_generator(nets):
    for name, make in MODELS.items():
        first = nets[name].state_dict()
        torch.manual_seed(77)
        again = make(torch.Generator().manual_seed(3)).state_dict()
        other = make(torch.Generator().manual_seed(4)).state_dict()
        assert all(torch.equal(first[key], again[key]) for key in first), name
        assert not all(torch.equal(first[key], other[key]) for key in first), name


def test_params_may_name_every_net_and_no_other():
    assert set(get_args(NetName)) == set(MODELS)


def test_a_net_takes_images_and_gives_ten_logits(nets):
    for name, net in nets.items():
        logits = OnBytes(net).eval()(torch.zeros(2, 28, 28, dtype=torch.uint8))
        assert logits.shape == (2, 10), name


def test_lenet_is_the_books_parameters_and_function(nets):
    net = nets["lenet"]
    params = lenet.lenet_params(torch.Generator().manual_seed(3))
    assert list(net.state_dict()) == list(LENET_NAMES)
    assert all(torch.equal(p, q) for p, q in zip(net.parameters(), params, strict=True))
    X = torch.rand(3, 1, 28, 28)
    assert torch.equal(net(X), lenet.lenet(X, params))


def test_logits_depend_on_all_pixels_that_are_seen_and_on_no_other(nets):
    """By the gradient of all logits with respect to the whole images."""
    for name, net in nets.items():
        X = torch.rand(8, 1, 28, 28, requires_grad=True)
        (net.eval()(X) ** 2).sum().backward()
        rows, columns = (X.grad.abs().amax((0, 1, axis)).nonzero().flatten() for axis in (3, 2))
        side = seen_side(net)
        assert rows.tolist() == columns.tolist() == list(range(side)), name
    assert seen_side(nets["lenet"]) == 26 < seen_side(nets["resnet18"]) == 28


def test_lenet_learns_the_same_from_the_pixels_that_are_seen():
    """From bytes, of which the engine leaves some out, and from whole images, as the notes do."""
    net = MODELS["lenet_he"](torch.Generator().manual_seed(0))
    images = torch.randint(0, 256, (8, 28, 28), dtype=torch.uint8)
    expected = net(to_float(images))
    expected.square().sum().backward()
    gradients = [p.grad for p in net.parameters()]
    net.zero_grad()
    found = OnBytes(net)(images)
    found.square().sum().backward()
    torch.testing.assert_close(found, expected)
    for p, gradient in zip(net.parameters(), gradients, strict=True):
        torch.testing.assert_close(p.grad, gradient, rtol=1e-4, atol=1e-4 * gradient.abs().max())


def replica(net: nn.Module) -> nn.Module:
    """What nn.DataParallel computes with: modules whose parameters are plain attributes."""
    copies = {module: module._replicate_for_data_parallel() for module in net.modules()}
    for module, copy in copies.items():
        for name, child in module.named_children():
            setattr(copy, name, copies[child])
        for name, p in module._parameters.items():  # a bias that is None, too
            setattr(copy, name, None if p is None else p.detach().clone())
    assert list(copies[net].parameters()) == []
    return copies[net]


def test_a_net_gives_the_same_bits_as_a_replica_of_data_parallel(nets):
    X = torch.rand(3, 1, 28, 28)
    for name, net in nets.items():
        assert torch.equal(replica(net.eval())(X), net(X)), name


def test_resnet18s_convolutions_lie_as_its_images_do(nets):
    weights = [p for p in nets["resnet18"].parameters() if p.ndim == 4]
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
