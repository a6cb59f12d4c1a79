"""LeNet layer by layer, for devices that have some of its layers or a share of each."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def _convolution(X: Tensor, W: Tensor, b: Tensor) -> Tensor:
    return F.avg_pool2d(F.relu(F.conv2d(X, W, b), inplace=True), kernel_size=2)


def _dense(X: Tensor, W: Tensor, b: Tensor) -> Tensor:
    return F.relu(X.flatten(start_dim=1) @ W + b)


def _output(X: Tensor, W: Tensor, b: Tensor) -> Tensor:
    return X @ W + b


# functions of the input, the weights, the biases
LAYERS = (_convolution, _convolution, _dense, _output)
# the dimension of a layer's weights along which its output channels or units lie
OUTPUT_DIMS = (0, 0, 1, 1)


def layer_params(net: nn.Module) -> list[tuple[Tensor, Tensor]]:
    """LeNet's weights and biases, layer by layer."""
    params = [p.detach() for p in net.parameters()]
    return list(zip(params[::2], params[1::2], strict=True))


def own(X: Tensor, device: torch.device) -> Tensor:
    """A parameter of `device`'s own: a copy that holds memory for nothing else."""
    return X.to(device).clone(memory_format=torch.contiguous_format).requires_grad_()
