import subprocess
import sys

import pytest

from lab.machine.torchvision_import import has_compiled_ops, torchvision

IN_A_NEW_PROCESS = """
import torch
from lab.machine.torchvision_import import torchvision, has_compiled_ops
net = torchvision.models.resnet18().eval()
assert net(torch.randn(1, 3, 32, 32)).shape == (1, 1000)
image = torchvision.transforms.ToTensor()(torchvision.transforms.ToPILImage()(torch.rand(1, 28, 28)))
assert image.shape == (1, 28, 28)
"""


def test_models_and_transforms_work_beside_this_torch():
    subprocess.run([sys.executable, "-c", IN_A_NEW_PROCESS], check=True, timeout=120)


def test_torchvision_is_one_we_admit():
    assert (0, 26) <= tuple(map(int, torchvision.__version__.split(".")[:2])) < (0, 29)


@pytest.mark.skipif(has_compiled_ops(), reason="torchvision's compiled operators fit this torch")
def test_a_declared_operator_still_refuses_to_run():
    import torch

    with pytest.raises((NotImplementedError, RuntimeError)):
        torchvision.ops.nms(torch.rand(2, 4), torch.rand(2), 0.5)
