import pytest
import torch

from lab.nets import lenet
from lab.nets.models import lenet_of_layers


@pytest.fixture
def params() -> list[torch.Tensor]:
    return lenet.lenet_params(torch.Generator().manual_seed(3))


def test_lenet_is_the_network_of_torchs_layers(params):
    oracle = lenet_of_layers()
    with torch.no_grad():
        for target, source in zip(oracle.parameters(), params, strict=True):
            source *= 10  # so that the outputs are not all about zero
            target.copy_(source.T if source.dim() == 2 else source)
    X = torch.rand(5, 1, 28, 28)
    torch.testing.assert_close(lenet.lenet(X, params), oracle(X))


def test_lenet_starts_as_the_book_says(params):
    assert sum(p.numel() for p in params) == 129_068
    for p in params:
        assert p.std() == pytest.approx(0.01, rel=0.2) if p.dim() > 1 else not p.any()
