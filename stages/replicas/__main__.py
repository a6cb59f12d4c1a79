"""Run the stage: `python -m stages.replicas`."""

import sys
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lab.core.exit_codes import run
from lab.core.files import REPORTS, write_metrics, write_rows
from lab.core.params import load
from lab.data.datasets import dataset_name, read_fashion_mnist
from lab.machine.devices import resolve
from lab.nets.models import MODELS, OnBytes
from lab.parallel.device_workers import crew
from lab.parallel.replicas import (
    allreduce,
    forward_backward,
    grad_of,
    rebinding_allreduce,
    replicate,
    sgd,
    split_batch,
    sum_gradients,
    train_batch,
)
from lab.results.curves import Curve, key, line, rows_of
from lab.training.short_training import scaled_lenet_params
from stages.replicas.params import Params

CPU = torch.device("cpu")
LR = 0.02
DEVICE_COUNTS = (2, 4)
IN_PLACE, REBINDING = "in place, copies (the book)", "all-reduce rebinds"
ALIASING, MEANS = "replicas without a copy", "mean of the shards' means"
Batches = Sequence[tuple[Tensor, Tensor]]


def lenet(seed: int) -> OnBytes:
    """Return LeNet with weights that learn at once; from the notes' 0.01 all variants would look
    alike for long.
    """
    generator = torch.Generator().manual_seed(seed)
    net = MODELS["lenet"](generator)
    with torch.no_grad():
        for p, scaled in zip(net.parameters(), scaled_lenet_params(generator), strict=True):
            p.copy_(scaled)
    return OnBytes(net)


def trained(
    nets: Sequence[nn.Module], batches: Batches, reduce: Callable[[list[Tensor]], None]
) -> Iterator[None]:
    """Take a step on each batch by hand, each replica on its shard."""
    with crew(len(nets), torch.get_num_threads()) as pool:
        for X, y in batches:
            train_batch(X, y, nets, [CPU] * len(nets), LR, pool, reduce)
            yield


def trained_on_one_tensor(net: nn.Module, count: int, batches: Batches) -> Iterator[None]:
    """Take the steps of `count` replicas that are one and the same net.

    All shards add to one gradient, which the all-reduce then adds to itself; the first update uses
    it up.
    """
    for X, y in batches:
        for X_shard, y_shard in zip(*split_batch(X, y, [CPU] * count), strict=True):
            forward_backward(net, X_shard, y_shard)
        sum_gradients([net] * count)
        sgd(net.parameters(), LR, len(X))
        yield


def trained_on_means(net: nn.Module, count: int, batches: Batches) -> Iterator[None]:
    """Take the steps of shards whose mean losses are averaged, as a data-parallel wrapper does if
    nobody minds.
    """
    for X, y in batches:
        for X_shard, y_shard in zip(*split_batch(X, y, [CPU] * count), strict=True):
            (F.cross_entropy(net(X_shard), y_shard) / count).backward()
        sgd(net.parameters(), LR, 1)
        yield


def distance(net: nn.Module, other: nn.Module) -> float:
    """Return the largest difference of any weight."""
    pairs = zip(net.parameters(), other.parameters(), strict=True)
    return max(float((p - q).detach().abs().max()) for p, q in pairs)


def measure(params: Params, batches: Batches) -> Iterator[Curve]:
    """Yield, step by step, how far each variant is from one device, and its replicas from each
    other.
    """
    count, steps = params.replicas.num_devices, np.arange(1, len(batches) + 1)
    start = lenet(params.seed)

    def replicas() -> list[OnBytes]:
        return [replicate(start, CPU) for _ in range(count)]

    one, book, rebound = [replicate(start, CPU)], replicas(), replicas()
    shared, mean = replicate(start, CPU), replicate(start, CPU)
    ways: dict[str, tuple[Sequence[nn.Module], Iterator[None]]] = {
        IN_PLACE: (book, trained(book, batches, allreduce)),
        REBINDING: (rebound, trained(rebound, batches, rebinding_allreduce)),
        ALIASING: ([shared], trained_on_one_tensor(shared, count, batches)),
        MEANS: ([mean], trained_on_means(mean, count, batches)),
    }
    reference = trained(one, batches, allreduce)
    from_one: dict[str, list[float]] = {name: [] for name in ways}
    apart: dict[str, list[float]] = {name: [] for name in ways}
    for _ in batches:
        next(reference)
        for name, (nets, steps_of) in ways.items():
            next(steps_of)
            from_one[name].append(max(distance(one[0], net) for net in nets))
            apart[name].append(max(distance(nets[0], net) for net in nets))
    for name in ways:
        yield line("from_one_device", name, steps, from_one[name])
        yield line("apart", name, steps, apart[name])


def gradient(net: nn.Module, X: Tensor, y: Tensor, count: int) -> Tensor:
    """Return the summed gradient of a batch split over `count` replicas, as one vector
    (float64).
    """
    nets = [replicate(net, CPU) for _ in range(count)]
    for replica, X_shard, y_shard in zip(nets, *split_batch(X, y, [CPU] * count), strict=True):
        forward_backward(replica, X_shard, y_shard)
    sum_gradients(nets)
    return torch.cat([grad_of(p).double().flatten() for p in nets[0].parameters()])


def measure_batch_norm(seed: int, X: Tensor, y: Tensor) -> Iterator[Curve]:
    """Yield by how much several devices change the gradient, relative to its length, with and
    without.
    """
    resnet = OnBytes(MODELS["resnet18"](torch.Generator().manual_seed(seed)))
    for name, net in (("ResNet-18, with batch norm", resnet), ("LeNet, without", lenet(seed))):
        whole = gradient(net, X, y, 1)
        changes = [
            float((gradient(net, X, y, count) - whole).norm() / whole.norm())
            for count in DEVICE_COUNTS
        ]
        yield line("gradient_change", name, DEVICE_COUNTS, changes)


def summarise(curves: Sequence[Curve]) -> dict[str, float | str]:
    """Return where each variant ends, and how much batch norm changes the gradient, in percent."""
    metrics: dict[str, float | str] = {}
    for c in curves:
        if c.demo in ("from_one_device", "apart"):
            metrics[f"{key(c.series)}_{c.demo}_millionths"] = round(1e6 * float(c.y[-1]), 4)
        else:
            metrics[f"{key(c.series)}_gradient_change_percent"] = round(100 * float(c.y[0]), 5)
    return metrics


def main() -> None:
    """Measure and write rows and metrics."""
    params = load(Params)
    resolve(params.replicas.num_devices, params.devices)
    p, split = params.replicas, read_fashion_mnist("train")
    images, labels = torch.tensor(split.images), torch.from_numpy(split.labels)
    order = torch.arange(p.num_steps * p.batch_size) % len(labels)
    batches = [(images[rows], labels[rows]) for rows in order.split(p.batch_size)]
    some = slice(p.batch_norm_images)
    curves = [
        *measure(params, batches),
        *measure_batch_norm(params.seed, images[some], labels[some]),
    ]
    write_rows(REPORTS / "replicas", rows_of(curves))
    write_metrics(REPORTS / "replicas", {"dataset": dataset_name(), **summarise(curves)})


if __name__ == "__main__":
    sys.exit(run(main))
