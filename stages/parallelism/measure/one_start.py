"""Steps of the kinds of parallelism timed side by side on two devices, in one start."""

from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial

import torch
from torch import Tensor, nn

from lab.core.params import load
from lab.machine.allocator import disable_malloc_trim
from lab.machine.devices import resolve
from lab.nets.models import LeNet
from lab.parallel.replicas import replicate
from lab.parallel.workers import parallel_map, thread_pool
from lab.results.measurements import Measurement
from lab.timing.bench import Variant, in_unit, time_variants
from stages.parallelism.measure.kinds import timed_kinds
from stages.parallelism.measure.layers import lenet_layers, wide_layers
from stages.parallelism.measure.names import (
    DATA,
    EVALUATION_MS,
    LENET_STEP_MS,
    ON_BOTH,
    ON_ONE,
    WIDE_STEP_MS,
)
from stages.parallelism.measure.params import Params
from stages.parallelism.measure.step import Devices, train

NUM_DEVICES, LR = 2, 1e-3
EVALUATED_IMAGES = 512


def measure(start: int) -> list[Measurement]:
    """Steps of LeNet and of the wide net by kind, then LeNet's evaluation on one device and two."""
    disable_malloc_trim()
    params = load(Params)
    p, devices = params.parallelism, resolve(NUM_DEVICES, params.devices)
    first, generator = devices.devices[0], torch.Generator().manual_seed(params.seed + start)
    lenet = LeNet(generator)
    images = torch.rand(EVALUATED_IMAGES, 1, 28, 28, generator=generator).to(first)
    X = images[: p.batch_sizes[-1]]
    y = torch.randint(10, (len(X),), generator=generator).to(first)
    kinds = timed_kinds(p.num_micro_batches)
    nets = {LENET_STEP_MS: lenet_layers(lenet), WIDE_STEP_MS: wide_layers(p.wide_units, generator)}
    found: list[Measurement] = []
    with thread_pool(NUM_DEVICES, devices.threads) as pool:
        experiments: dict[str, dict[str, Variant]] = {
            experiment: {
                name: partial(train, kind(net, devices.devices, pool), X, y, LR, pool)
                for name, kind in kinds.items()
            }
            for experiment, net in nets.items()
        }
        replicas = [replicate(lenet, device) for device in devices.devices]
        experiments[EVALUATION_MS] = {
            name: partial(evaluate, replicas[:count], images, devices.devices[:count], pool)
            for name, count in ((ON_ONE, 1), (ON_BOTH, NUM_DEVICES))
        }
        for experiment, variants in experiments.items():
            control = DATA if experiment == LENET_STEP_MS else ""
            times = time_variants(variants, devices.devices, params.bench, start, control)
            found += in_unit(experiment, len(X), times, "ms", devices)
    return found


def evaluate(
    replicas: Sequence[nn.Module], X: Tensor, devices: Devices, pool: Executor
) -> list[Tensor]:
    """The labels that replicas give to their shares of the images."""

    def labels(net: nn.Module, X: Tensor, device: torch.device) -> Tensor:
        with torch.no_grad():  # which holds for one thread only
            logits: Tensor = net(X.to(device))
            return logits.argmax(1)

    return parallel_map(pool, labels, replicas, X.tensor_split(len(devices)), devices)
