"""The gradient of a batch that is split over devices, for nets with batch norm and without."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from lab.nets.models import MODELS, OnBytes
from lab.parallel.replicas import forward_backward, grad_of, replicate, split_batch, sum_gradients
from lab.results.curves import Curve, line
from stages.replicas.names import GRADIENT_CHANGE, WITH_BATCH_NORM, WITHOUT_BATCH_NORM
from stages.replicas.training_variants import CPU, lenet

DEVICE_COUNTS = (2, 4)


def measure_batch_norm(seed: int, X: Tensor, y: Tensor) -> Iterator[Curve]:
    """By how much several devices change the gradient, relative to its length."""
    resnet = OnBytes(MODELS["resnet18"](torch.Generator().manual_seed(seed)))
    for name, net in ((WITH_BATCH_NORM, resnet), (WITHOUT_BATCH_NORM, lenet(seed))):
        whole = gradient(net, X, y, 1)
        changes = [
            float((gradient(net, X, y, count) - whole).norm() / whole.norm())
            for count in DEVICE_COUNTS
        ]
        yield line(GRADIENT_CHANGE, name, DEVICE_COUNTS, changes)


def gradient(net: nn.Module, X: Tensor, y: Tensor, num_devices: int) -> Tensor:
    """The summed gradient of a batch split over the devices, as one vector (float64)."""
    nets = [replicate(net, CPU) for _ in range(num_devices)]
    for replica, X_shard, y_shard in zip(
        nets, *split_batch(X, y, [CPU] * num_devices), strict=True
    ):
        forward_backward(replica, X_shard, y_shard)
    sum_gradients(nets)
    return torch.cat([grad_of(p).double().flatten() for p in nets[0].parameters()])
