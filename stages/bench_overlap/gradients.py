"""When in a backward pass of the notes' LeNet the gradient of each parameter is ready."""

import time
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from lab.machine.devices import Devices
from lab.nets.models import LENET_NAMES, MODELS
from lab.results.measurements import Measurement
from lab.timing.clock import synchronize
from stages.bench_overlap import names
from stages.bench_overlap.params import Params

BATCH_SIZE = 256  # images, the notes'

Reading = Any  # seconds, or a GPU's event


def measure_gradients(params: Params, devices: Devices) -> list[Measurement]:
    """Milliseconds from the start of a backward pass until each gradient, the first, the last."""
    passes = ready_times(1 + params.bench.rounds, devices.devices[0], params.seed)[1:]
    kind, threads = devices.kind, devices.threads
    return [
        *[
            Measurement(
                names.GRADIENTS, name, i, tuple(ms[name] for ms in passes), "ms", kind, threads
            )
            for i, name in enumerate(LENET_NAMES, start=1)
        ],
        *[
            Measurement(
                names.BACKWARD,
                arm,
                BATCH_SIZE,
                tuple(which(ms.values()) for ms in passes),
                "ms",
                kind,
                threads,
            )
            for arm, which in ((names.FIRST_READY, min), (names.LAST_READY, max))
        ],
    ]


def ready_times(passes: int, device: torch.device, seed: int) -> list[dict[str, float]]:
    """Milliseconds until the gradient of each of LeNet's parameters was ready, pass by pass."""
    generator = torch.Generator().manual_seed(seed)
    net = MODELS["lenet"](generator).to(device)
    X = torch.rand(BATCH_SIZE, 1, 28, 28, generator=generator).to(device)
    y = torch.randint(10, (BATCH_SIZE,), generator=generator).to(device)
    ready: dict[str, Reading] = {}

    def note(name: str, _: Tensor) -> None:
        ready[name] = _read(device)

    for name, param in net.named_parameters():
        param.register_post_accumulate_grad_hook(partial(note, name))
    found = []
    for _ in range(passes):
        net.zero_grad()
        loss = F.cross_entropy(net(X), y)
        synchronize([device])
        start = _read(device)
        loss.backward()
        synchronize([device])
        found.append({name: _milliseconds(start, reading) for name, reading in ready.items()})
    return found


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
