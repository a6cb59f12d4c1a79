"""The times in a backward pass of the notes' LeNet at which gradients are ready."""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lab.machine.devices import Devices
from lab.nets.models import LENET_NAMES, MODELS
from lab.parallel.gradient_times import ready_times
from lab.results.measurements import Measurement
from lab.timing.bench import Variant, VariantOfSize
from stages.bench_overlap.measure.params import Params

BATCH_SIZE = 256  # images, as in the notes; more on a GPU, to outlast the launch


def measure_gradients(params: Params, devices: Devices, images: int) -> list[Measurement]:
    """Time each gradient, the first and the last, in ms since the backward pass began."""
    device = devices.devices[0]
    net, loss = _lenet(images, device, params.seed)
    each = ready_times(net, loss, 1 + params.bench.rounds, device)[1:]

    def ready(experiment: str, variant: str, x: int, ms: Sequence[float]) -> Measurement:
        kind, threads = devices.kind, devices.threads
        return Measurement(experiment, variant, x, tuple(ms), "ms", kind, threads)

    firsts, lasts = ([which(ms.values()) for ms in each] for which in (min, max))
    return [
        *[
            ready("gradient ready", name, i, [ms[name] for ms in each])
            for i, name in enumerate(LENET_NAMES, start=1)
        ],
        ready("backward pass", "first gradient ready", images, firsts),
        ready("backward pass", "last gradient ready", images, lasts),
    ]


def lenet_passes(device: torch.device, seed: int) -> VariantOfSize:
    """Return a forward and backward pass of LeNet, by the number of images."""

    def of(images: int) -> Variant:
        _, loss = _lenet(images, device, seed)
        return lambda: loss().backward()

    return of


def _lenet(images: int, device: torch.device, seed: int) -> tuple[nn.Module, Callable[[], Tensor]]:
    """Return LeNet, and a function that computes its loss on `images` random images."""
    generator = torch.Generator().manual_seed(seed)
    net = MODELS["lenet"](generator).to(device)
    X = torch.rand(images, 1, 28, 28, generator=generator).to(device)
    y = torch.randint(10, (images,), generator=generator).to(device)
    return net, lambda: F.cross_entropy(net(X), y)
