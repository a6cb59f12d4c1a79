"""When in a backward pass of the notes' LeNet the gradient of each parameter is ready."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lab.machine.devices import Devices
from lab.nets.models import LENET_NAMES, MODELS
from lab.results.measurements import Measurement
from lab.timing.bench import Arm, ArmOfSize
from lab.timing.clock import synchronize
from stages.bench_overlap import names
from stages.bench_overlap.params import Params

BATCH_SIZE = 256  # images, the notes'; on a GPU as many times as outlasts the launch

Reading = Any  # seconds, or a GPU's event


def measure_gradients(params: Params, devices: Devices, images: int) -> list[Measurement]:
    """Milliseconds from the start of a backward pass until each gradient, the first, the last."""
    count = 1 + params.bench.rounds
    each = ready_times(count, devices.devices[0], params.seed, images)[1:]
    kind, threads = devices.kind, devices.threads
    return [
        *[
            Measurement(
                names.GRADIENTS, name, i, tuple(ms[name] for ms in each), "ms", kind, threads
            )
            for i, name in enumerate(LENET_NAMES, start=1)
        ],
        *[
            Measurement(
                names.BACKWARD,
                arm,
                images,
                tuple(which(ms.values()) for ms in each),
                "ms",
                kind,
                threads,
            )
            for arm, which in ((names.FIRST_READY, min), (names.LAST_READY, max))
        ],
    ]


def ready_times(
    passes: int, device: torch.device, seed: int, images: int
) -> list[dict[str, float]]:
    """Milliseconds until the gradient of each of LeNet's parameters was ready, pass by pass."""
    net, loss = _lenet(images, device, seed)
    ready: dict[str, Reading] = {}

    def note(name: str, _: Tensor) -> None:
        ready[name] = _read(device)

    for name, param in net.named_parameters():
        param.register_post_accumulate_grad_hook(partial(note, name))
    found = []
    for _ in range(passes):
        net.zero_grad()
        end = loss()
        synchronize([device])
        start = _read(device)
        end.backward()
        synchronize([device])
        found.append({name: _milliseconds(start, reading) for name, reading in ready.items()})
    return found


def lenet_passes(device: torch.device, seed: int) -> ArmOfSize:
    """A forward and a backward pass of LeNet over so many images."""

    def of(images: int) -> Arm:
        _, loss = _lenet(images, device, seed)
        return lambda: loss().backward()

    return of


def _lenet(images: int, device: torch.device, seed: int) -> tuple[nn.Module, Callable[[], Tensor]]:
    """LeNet, and a function that computes its loss on as many random images."""
    generator = torch.Generator().manual_seed(seed)
    net = MODELS["lenet"](generator).to(device)
    X = torch.rand(images, 1, 28, 28, generator=generator).to(device)
    y = torch.randint(10, (images,), generator=generator).to(device)
    return net, lambda: F.cross_entropy(net(X), y)


def _read(device: torch.device) -> Reading:
    """A point in time: a GPU's is that at which it has done what was queued before."""
    if device.type != "cuda":
        return time.perf_counter()
    event = torch.cuda.Event(enable_timing=True)
    event.record()
    return event


def _milliseconds(start: Reading, end: Reading) -> float:
    if isinstance(start, torch.cuda.Event):
        return float(start.elapsed_time(end))
    return float(1e3 * (end - start))
