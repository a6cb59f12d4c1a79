"""The networks that can be trained, by name; a generator determines their initial weights."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from lab.core.shared_params import Precision
from lab.nets import lenet
from lab.nets.convnet import convnet, mlp
from lab.nets.resnet import resnet18

IMAGE_SHAPE = (28, 28)
LENET_NAMES = ("W1", "b1", "W2", "b2", "W3", "b3", "W4", "b4")


class LeNet(nn.Module):
    """The book's LeNet from scratch (13.5.2), with the book's names of its eight parameters.

    Attributes:
        receptive_size: side of the square of pixels that the logits depend on. The last pooling
            drops a row and a column of its 9 x 9 inputs, and so the last two rows and columns of
            an image have no effect.
    """

    receptive_size = 26

    def __init__(self, generator: torch.Generator, width: int = 1, he: bool = False) -> None:
        """Draw the parameters of a net with `width` times the channels and hidden units.

        With `he`, use He initialization.
        """
        super().__init__()
        draw = lenet.he_lenet_params if he else lenet.lenet_params
        for name, value in zip(LENET_NAMES, draw(generator, width), strict=True):
            self.register_parameter(name, nn.Parameter(value))

    def forward(self, X: Tensor) -> Tensor:
        """Return logits (n, 10) of images X (n, 1, 28, 28)."""
        # by name, since parameters are plain attributes in a replica of nn.DataParallel
        return lenet.lenet(X, [getattr(self, name) for name in LENET_NAMES])


def lenet_of_layers() -> nn.Sequential:
    """Return the same network built from torch's layers, with torch's default weights."""
    return nn.Sequential(
        *[nn.Conv2d(1, 20, 3), nn.ReLU(), nn.AvgPool2d(2)],
        *[nn.Conv2d(20, 50, 5), nn.ReLU(), nn.AvgPool2d(2)],
        *[nn.Flatten(), nn.Linear(800, 128), nn.ReLU(), nn.Linear(128, 10)],
    )


MODELS: dict[str, Callable[[torch.Generator], nn.Module]] = {
    "lenet": LeNet,
    "lenet_he": partial(LeNet, he=True),
    "resnet18": resnet18,
    "mlp": partial(mlp, width=128),
    "convnet": lambda generator: convnet(generator, 16, 32, 64),
    "convnet_deep": lambda generator: convnet(generator, 48, 96, 192, again=True),
}


def to_float(images: Tensor) -> Tensor:
    """Scale uint8 images (n, 28, 28) to float32 (n, 1, 28, 28) in [0, 1], on their device."""
    # with one channel, this is channels-last without a copy
    return images.to(torch.float32).div_(255).unsqueeze(3).permute(0, 3, 1, 2)


def receptive_size(net: nn.Module) -> int:
    """Return the side of the square of pixels, at the top left, that a net's logits depend on."""
    return int(getattr(net, "receptive_size", IMAGE_SHAPE[0]))


class UInt8Input(nn.Module):
    """A net that takes uint8 images (n, 28, 28), so that a quarter of the bytes go to a device.

    It skips the pixels that its logits do not depend on (`receptive_size`), with all computation on
    them.

    With precision `bf16`, convolutions and products compute in bfloat16 (torch's autocast). The
    weights, the logits and so the loss stay float32. `tf32` is a setting of the whole process:
    `lab.machine.devices.allow_tf32`.
    """

    def __init__(self, net: nn.Module, precision: Precision = "fp32") -> None:
        """Wrap `net`, which takes float images (n, 1, 28, 28)."""
        super().__init__()
        self.net = net
        self.precision = precision
        self.side = receptive_size(net)

    def forward(self, images: Tensor) -> Tensor:
        """Return logits (n, 10)."""
        with torch.autocast(images.device.type, torch.bfloat16, enabled=self.precision == "bf16"):
            logits: Tensor = self.net(to_float(images[:, : self.side, : self.side]))
        return logits.float() if self.precision == "bf16" else logits
