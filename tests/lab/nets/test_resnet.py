import pytest
import torch

from lab.nets.resnet import Residual, resnet18


def test_it_is_the_notes_variant():
    net = resnet18(torch.Generator().manual_seed(0))
    assert sum(p.numel() for p in net.parameters()) == 11_175_818
    assert len(list(net.parameters())) == 76
    assert net[0].weight.shape == (64, 1, 3, 3)
    assert net(torch.rand(2, 1, 28, 28)).shape == (2, 10)


def test_weights_are_small_normals_and_the_generator_decides_them():
    net, same, other = (resnet18(torch.Generator().manual_seed(seed)) for seed in (1, 1, 2))
    weights = torch.cat(
        [p.flatten() for name, p in net.named_parameters() if name.endswith("conv2.weight")]
    )
    assert weights.std().item() == pytest.approx(0.01, rel=0.01)
    assert all(torch.equal(a, b) for a, b in zip(net.parameters(), same.parameters(), strict=True))
    assert not torch.equal(net[0].weight, other[0].weight)
    assert net[0].bias.abs().max() <= 1 / 3


def test_a_block_without_its_convolutions_passes_its_input_on():
    for channels, stride, shape in (
        (4, 1, (2, 4, 7, 7)),
        (8, 1, (2, 8, 7, 7)),
        (8, 2, (2, 8, 4, 4)),
    ):
        block = Residual(4, channels, stride).eval()
        for parameter in (block.conv2.weight, block.conv2.bias):
            torch.nn.init.zeros_(parameter)
        X = torch.rand(2, 4, 7, 7)
        Y = block(X)
        assert Y.shape == shape
        torch.testing.assert_close(Y, block.shortcut(X).relu())
