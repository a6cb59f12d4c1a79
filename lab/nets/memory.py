"""The minimum memory of a training step."""

import copy

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks

from lab.core.shared_params import Precision
from lab.nets.models import IMAGE_SHAPE, UInt8Input

FEW, MORE = 2, 3  # images; batch norm cannot train on one


def least_step_bytes(net: nn.Module, batch_size: int, precision: Precision = "fp32") -> int:
    """Return the bytes that an eager step on `batch_size` images holds after its forward pass.

    These are the weights plus saved activations, which grow linearly with the batch. No step takes
    less on any device. The peak also includes the gradients of a layer or two, which add a fiftieth
    for large batches of ResNet-18 and nearly as much again for LeNet, and the workspace of kernels
    and libraries.
    """
    few, more = (_held_bytes(net, count, precision) for count in (FEW, MORE))
    return few + (batch_size - FEW) * (more - few)


def _held_bytes(net: nn.Module, batch_size: int, precision: Precision) -> int:
    net = UInt8Input(copy.deepcopy(net), precision)  # keep its running statistics
    held: dict[int, int] = {}  # bytes by address

    def hold(tensor: Tensor) -> Tensor:
        memory = tensor.untyped_storage()
        held[memory.data_ptr()] = memory.nbytes()
        return tensor

    for param in net.parameters():
        hold(param)
    images = torch.zeros(batch_size, *IMAGE_SHAPE, dtype=torch.uint8)
    labels = torch.zeros(batch_size, dtype=torch.int64)
    with saved_tensors_hooks(hold, lambda tensor: tensor):
        loss = F.cross_entropy(net(images), labels)
    total = sum(held.values())
    del loss  # kept until here, so that no address is reused for a different tensor
    return total
