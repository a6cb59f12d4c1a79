import pytest
import torch
from torch import nn

from lab.nets import lenet
from lab.nets.models import MODELS, UInt8Input, lenet_of_layers, receptive_size, to_float


@pytest.fixture(scope="module")
def nets() -> dict[str, nn.Module]:
    """Build each network from one seed; tests must not change them."""
    return {name: make(torch.Generator().manual_seed(3)).eval() for name, make in MODELS.items()}


def test_bytes_become_floats_in_0_to_1():
    images = torch.zeros(2, 28, 28, dtype=torch.uint8)
    images[1, 3, 4] = 255
    X = to_float(images)
    assert (X.shape, X.dtype) == ((2, 1, 28, 28), torch.float32)
    assert X[1, 0, 3, 4] == X.sum() == 1


@pytest.mark.parametrize("name", MODELS)
def test_the_seed_determines_every_weight(nets, name):
    first = nets[name].state_dict()
    torch.manual_seed(77)
    again, other = (MODELS[name](torch.Generator().manual_seed(n)).state_dict() for n in (3, 4))
    assert all(torch.equal(first[key], again[key]) for key in first)
    assert not all(torch.equal(first[key], other[key]) for key in first)


@pytest.mark.parametrize("name", MODELS)
def test_logits_depend_on_the_seen_pixels_only(nets, name):
    """Checked by the gradient of all logits with respect to the whole images."""
    X = torch.rand(8, 1, 28, 28, requires_grad=True)
    logits = nets[name](X)
    assert logits.shape == (8, 10)
    (logits**2).sum().backward()
    rows, columns = (X.grad.abs().amax((0, 1, axis)).nonzero().flatten() for axis in (3, 2))
    assert rows.tolist() == columns.tolist() == list(range(receptive_size(nets[name])))


def test_lenet_learns_the_same_from_the_seen_pixels():
    """The engine crops the bytes to the seen pixels; the notes use whole images."""
    net = MODELS["lenet_he"](torch.Generator().manual_seed(0))
    images = torch.randint(0, 256, (8, 28, 28), dtype=torch.uint8)
    expected = net(to_float(images))
    expected.square().sum().backward()
    gradients = [p.grad for p in net.parameters()]
    net.zero_grad()
    found = UInt8Input(net)(images)
    found.square().sum().backward()
    torch.testing.assert_close(found, expected)
    for p, gradient in zip(net.parameters(), gradients, strict=True):
        torch.testing.assert_close(p.grad, gradient, rtol=1e-4, atol=1e-4 * gradient.abs().max())


def replica(net: nn.Module) -> nn.Module:
    """Return the net as nn.DataParallel replicates it: its parameters are plain attributes."""
    copies = {module: module._replicate_for_data_parallel() for module in net.modules()}
    for module, copy in copies.items():
        for name, child in module.named_children():
            setattr(copy, name, copies[child])
        for name, p in module._parameters.items():  # a bias may be None
            setattr(copy, name, None if p is None else p.detach().clone())
    assert list(copies[net].parameters()) == []
    return copies[net]


@pytest.mark.parametrize("name", MODELS)
def test_nets_work_in_data_parallel(nets, name):
    X = torch.rand(3, 1, 28, 28)
    assert torch.equal(replica(nets[name])(X), nets[name](X))


def test_bf16_keeps_weights_and_logits_in_float32():
    net = MODELS["lenet_he"](torch.Generator().manual_seed(0))
    X = torch.randint(0, 256, (8, 28, 28), dtype=torch.uint8)
    exact, rounded = UInt8Input(net)(X), UInt8Input(net, "bf16")(X)
    assert exact.dtype == rounded.dtype == net.W1.dtype == torch.float32
    assert 0 < (exact - rounded).abs().max() < 0.03 * exact.abs().max()


@pytest.fixture
def params() -> list[torch.Tensor]:
    return lenet.lenet_params(torch.Generator().manual_seed(3))


def test_lenet_matches_the_network_of_torchs_layers(params):
    oracle = lenet_of_layers()
    with torch.no_grad():
        for target, source in zip(oracle.parameters(), params, strict=True):
            source *= 10  # so that the outputs are not all close to zero
            target.copy_(source.T if source.dim() == 2 else source)
    X = torch.rand(5, 1, 28, 28)
    torch.testing.assert_close(lenet.lenet(X, params), oracle(X))


def test_lenet_is_initialized_as_in_the_book(params):
    assert sum(p.numel() for p in params) == 129_068
    for p in params:
        assert p.std() == pytest.approx(0.01, rel=0.2) if p.dim() > 1 else not p.any()
