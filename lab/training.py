"""The training loop of section 13.5: epochs over resident images, on a list of devices, one step per batch."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass

import torch
from torch import Tensor

from lab.errors import DivergedError
from lab.nets import to_float
from lab.replicas import Net, get_params, split_batch, train_batch
from lab.timing import read_clock

LabelledImages = tuple[Tensor, Tensor]  # uint8 images (n, 28, 28) and int64 labels (n,)


@dataclass(frozen=True)
class Epoch:
    """What one epoch gave: mean loss over its batches, accuracy on the test images, seconds of training alone."""

    epoch: int
    train_loss: float
    test_accuracy: float
    seconds: float


def epoch_order(num_images: int, seed: int, epoch: int) -> Tensor:
    """Return the order of the images in an epoch: a permutation that depends on seed and epoch alone."""
    generator = torch.Generator().manual_seed(seed * 100_000 + epoch)
    return torch.randperm(num_images, generator=generator)


def evaluate(
    images: Tensor,
    labels: Tensor,
    net: Net,
    device_params: Sequence[list[Tensor]],
    devices: Sequence[torch.device],
    pool: Executor,
    batch_size: int = 1000,
) -> float:
    """Return the share of `images` (n, ...) that the net labels right, each counted once, on all devices."""

    def count_right(images: Tensor, labels: Tensor, params: list[Tensor]) -> int:
        with torch.no_grad():
            batches = zip(images.split(batch_size), labels.split(batch_size), strict=True)
            return sum(int((net(X, params).argmax(1) == y).sum()) for X, y in batches)

    return sum(pool.map(count_right, *split_batch(images, labels, devices), device_params)) / len(labels)


def train(
    net: Net,
    params: Sequence[Tensor],
    train_set: LabelledImages,
    test_set: LabelledImages,
    devices: Sequence[torch.device],
    batch_size: int,
    lr: float,
    num_epochs: int,
    seed: int,
    on_step: Callable[[int], object] = lambda examples: None,
) -> Iterator[tuple[Epoch, list[Tensor]]]:
    """Yield each epoch's result with the weights it ended on (the first replica's own tensors, not a copy).

    The sets are moved to the first device once. Where the batch size does not divide them, the last batch of an
    epoch is smaller. `on_step` hears how many examples a step took. The clock covers training only; one step on
    a throw-away replica warms the machine up before it.

    Raises:
        DivergedError: an epoch's loss is not finite.
    """
    images, labels = (tensor.to(devices[0]) for tensor in train_set)
    test_images, test_labels = (tensor.to(devices[0]) for tensor in test_set)
    device_params = [get_params(params, device) for device in devices]

    def net_on_bytes(X: Tensor, params: list[Tensor]) -> Tensor:
        return net(to_float(X), params)  # scaled by each device for its own shard: a quarter of the bytes to send

    def step(batch: Tensor, device_params: Sequence[list[Tensor]]) -> Tensor:
        losses = train_batch(images[batch], labels[batch], net_on_bytes, device_params, devices, lr, pool)
        return torch.stack([loss.to(devices[0]) for loss in losses]).sum()

    with ThreadPoolExecutor(len(devices)) as pool:
        step(torch.arange(min(batch_size, len(images))), [get_params(params, device) for device in devices])
        for epoch in range(1, num_epochs + 1):
            order = epoch_order(len(images), seed, epoch).to(devices[0])
            loss = torch.zeros((), device=devices[0], dtype=torch.float64)
            start = read_clock(devices)
            for batch in order.split(batch_size):
                loss += step(batch, device_params)
                on_step(len(batch))
            seconds = read_clock(devices) - start
            mean_loss = loss.item() / len(images)
            if not torch.isfinite(loss):
                raise DivergedError(f"the loss is {mean_loss} in epoch {epoch}; lower lr (it is {lr})")
            accuracy = evaluate(test_images, test_labels, net_on_bytes, device_params, devices, pool)
            yield Epoch(epoch, mean_loss, accuracy, seconds), device_params[0]
