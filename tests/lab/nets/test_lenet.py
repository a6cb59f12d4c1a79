import torch
from torch import nn

from lab.nets import lenet
from lab.nets.models import to_float


def lenet_of_modules(params: list[torch.Tensor]) -> nn.Sequential:
    """The same network from torch's modules, as an oracle."""
    net = nn.Sequential(
        nn.Conv2d(1, 20, 3),
        nn.ReLU(),
        nn.AvgPool2d(2),
        nn.Conv2d(20, 50, 5),
        nn.ReLU(),
        nn.AvgPool2d(2),
        nn.Flatten(),
        nn.Linear(800, 128),
        nn.ReLU(),
        nn.Linear(128, 10),
    )
    with torch.no_grad():
        for target, source in zip(net.parameters(), params, strict=True):
            target.copy_(source.T if source.shape in ((800, 128), (128, 10)) else source)
    return net


def test_lenet_is_the_books_network():
    params = lenet.lenet_params(torch.Generator().manual_seed(0))
    large = [p * 10 for p in params]  # so that the outputs are not all about zero
    X = to_float(torch.randint(0, 256, (5, 28, 28), dtype=torch.uint8))
    torch.testing.assert_close(lenet.lenet(X, large), lenet_of_modules(large)(X))


def test_lenet_starts_as_the_book_says():
    params = lenet.lenet_params(torch.Generator().manual_seed(3))
    assert sum(p.numel() for p in params) == 129_068
    for p in params:
        if p.dim() == 1:
            assert not p.any()
        else:
            assert abs(p.std() / 0.01 - 1) < 0.2
    again = lenet.lenet_params(torch.Generator().manual_seed(3))
    assert all(torch.equal(p, q) for p, q in zip(params, again, strict=True))
