import pytest
import torch

from lab.nets.flops import forward_cost
from lab.nets.resnet import Residual, resnet18


def test_resnet18_is_the_notes_variant():
    net = resnet18(torch.Generator().manual_seed(0))
    assert len(list(net.parameters())) == 76
    assert net[0].weight.shape == (64, 1, 3, 3)
    assert net[0].bias.abs().max() <= 1 / 3
    weights = [
        p.detach().flatten() for name, p in net.named_parameters() if name.endswith("conv2.weight")
    ]
    assert torch.cat(weights).std() == pytest.approx(0.01, rel=0.01)


@pytest.mark.parametrize(
    ("stem", "kernel", "sides"), [("small", 3, (28, 14, 7, 4)), ("original", 7, (7, 4, 2, 1))]
)
def test_flop_by_hand(stem, kernel, sides):
    """A multiply-add counts as two: in the stem, the blocks of each size, the last layer."""
    channels = (64, 128, 256, 512)
    stem_side = 28 if stem == "small" else 14
    multiply_adds = stem_side**2 * kernel**2 * 64 + 512 * 10
    for before, after, side in zip((64, *channels), channels, sides, strict=False):
        first = 9 * before * after + (before * after if before != after else 0)
        multiply_adds += side**2 * (first + 3 * 9 * after**2)
    net = resnet18(torch.Generator(), stem).eval()
    cost = forward_cost(net, (1, 1, 28, 28))
    assert cost.flop == 2 * multiply_adds
    assert cost.params == 11_175_818 + 64 * (kernel**2 - 9)


@pytest.mark.parametrize(("channels", "stride", "side"), [(4, 1, 7), (8, 1, 7), (8, 2, 4)])
def test_a_block_with_zero_convolutions_returns_its_shortcut(channels, stride, side):
    block = Residual(4, channels, stride).eval()
    torch.nn.init.zeros_(block.conv2.weight)
    torch.nn.init.zeros_(block.conv2.bias)
    X = torch.rand(2, 4, 7, 7)
    Y = block(X)
    assert Y.shape == (2, channels, side, side)
    torch.testing.assert_close(Y, block.shortcut(X).relu())
