import pytest
import torch

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


@pytest.mark.parametrize(("channels", "stride", "side"), [(4, 1, 7), (8, 1, 7), (8, 2, 4)])
def test_block_without_its_convolutions_passes_its_input_on(channels, stride, side):
    block = Residual(4, channels, stride).eval()
    torch.nn.init.zeros_(block.conv2.weight)
    torch.nn.init.zeros_(block.conv2.bias)
    X = torch.rand(2, 4, 7, 7)
    Y = block(X)
    assert Y.shape == (2, channels, side, side)
    torch.testing.assert_close(Y, block.shortcut(X).relu())
