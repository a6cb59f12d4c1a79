import torch

from lab.machine.torchvision_import import torchvision


def test_models_and_transforms_work_beside_this_torch():
    net = torchvision.models.resnet18().eval()
    assert net(torch.randn(1, 3, 32, 32)).shape == (1, 1000)
    image = torch.arange(28 * 28).remainder(256).reshape(1, 28, 28) / 255
    picture = torchvision.transforms.ToPILImage()(image)
    assert torch.equal(torchvision.transforms.ToTensor()(picture), image)
