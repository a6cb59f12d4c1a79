"""The time of a step by each kind of parallelism, and of an evaluation."""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor, nn

from lab.machine.allocator import disable_malloc_trim
from lab.machine.devices import Devices, resolve
from lab.nets.models import LeNet
from lab.parallel.replicas import replicate
from lab.parallel.workers import parallel_map, thread_pool
from lab.results.measurements import Measurement
from lab.timing.bench import Variant, in_unit, time_variants
from stages.parallelism.measure.by_hand import (
    DeviceGroup,
    Layered,
    dense_layers,
    kinds,
    lenet_layers,
    train,
)
from stages.parallelism.measure.names import DATA, DENSE, LENET
from stages.parallelism.measure.params import ParallelismParams, Params

NUM_DEVICES = 2
LR = 1e-3
EVALUATED_IMAGES = 512


def measure(process: int, params: Params) -> list[Measurement]:
    """Time steps of both nets, then LeNet's evaluation on one device and on two."""
    disable_malloc_trim()
    p, devices = params.parallelism, resolve(NUM_DEVICES, params.devices)
    lasting = devices.kind != "cuda"  # tens of milliseconds on a CPU
    first, generator = devices.devices[0], torch.Generator().manual_seed(params.seed + process)
    lenet = LeNet(generator)
    images = torch.rand(EVALUATED_IMAGES, 1, 28, 28, generator=generator).to(first)
    X = images[: p.batch_sizes[-1]]
    y = torch.randint(10, (len(X),), generator=generator).to(first)
    nets = {LENET: lenet_layers(lenet), DENSE: dense_layers(p.wide_units, generator)}
    found: list[Measurement] = []
    with thread_pool(NUM_DEVICES, devices.threads) as pool:
        steps = {net: steps_by_hand(p, nets[net], X, y, devices, pool) for net in nets}
        for net, variants in steps.items():
            control = DATA if net == LENET else ""
            times = time_variants(
                variants, devices.devices, params.bench, process, control, lasting
            )
            found += _of_net(net, in_unit("step", len(X), times, "ms", devices))
        replicas = [replicate(lenet, device) for device in devices.devices]
        evaluations: dict[str, Variant] = {
            name: partial(evaluate, replicas[:n], images, devices.devices[:n], pool)
            for name, n in (("on one device", 1), ("on both devices", NUM_DEVICES))
        }
        times = time_variants(evaluations, devices.devices, params.bench, process, lasting=lasting)
    return found + _of_net(LENET, in_unit("evaluation", len(images), times, "ms", devices))


def steps_by_hand(
    p: ParallelismParams, net: Layered, X: Tensor, y: Tensor, devices: Devices, pool: Executor
) -> dict[str, Variant]:
    """Return a step of each kind on the first two devices."""
    on_two = devices.devices[:NUM_DEVICES]
    return {
        name: partial(train, kind(net, on_two), X, y, LR, DeviceGroup(on_two, pool))
        for name, kind in kinds(p.num_micro_batches).items()
    }


def evaluate(
    replicas: Sequence[nn.Module], X: Tensor, devices: Sequence[torch.device], pool: Executor
) -> list[Tensor]:
    """Return the labels that replicas predict for their shares of the images."""

    def labels(net: nn.Module, X: Tensor, device: torch.device) -> Tensor:
        with torch.no_grad():  # no_grad is thread-local
            logits: Tensor = net(X.to(device))
            return logits.argmax(1)

    return parallel_map(pool, labels, replicas, X.tensor_split(len(devices)), devices)


def _of_net(net: str, measured: Sequence[Measurement]) -> list[Measurement]:
    return [replace(m, columns={"net": net}) for m in measured]
