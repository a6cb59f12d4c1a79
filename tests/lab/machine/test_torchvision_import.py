import pytest
import torch

from lab.machine.torchvision_import import has_compiled_ops, torchvision


def test_models_and_transforms_work_beside_this_torch():
    net = torchvision.models.resnet18().eval()
    assert net(torch.randn(1, 3, 32, 32)).shape == (1, 1000)
    image = torch.arange(28 * 28).remainder(256).reshape(1, 28, 28) / 255
    picture = torchvision.transforms.ToPILImage()(image)
    assert torch.equal(torchvision.transforms.ToTensor()(picture), image)


def test_torchvision_is_one_we_admit():
    assert (0, 26) <= tuple(map(int, torchvision.__version__.split(".")[:2])) < (0, 29)


@pytest.mark.skipif(has_compiled_ops(), reason="torchvision's compiled operators fit this torch")
def test_a_declared_operator_still_refuses_to_run():
    with pytest.raises((NotImplementedError, RuntimeError)):
        torchvision.ops.nms(torch.rand(2, 4), torch.rand(2), 0.5)
