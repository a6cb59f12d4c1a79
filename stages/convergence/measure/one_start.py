"""The time of an image in a step of training, by batch size, measured in one start."""

from functools import partial
from itertools import chain

import torch

from lab.core.params import load
from lab.data.images import Images
from lab.machine.allocator import disable_malloc_trim
from lab.machine.devices import Devices, resolve
from lab.results.measurements import Measurement
from lab.timing.bench import in_unit, time_variants
from lab.training.short_training import make_net
from lab.training.update_steps import sgd_step
from stages.convergence.measure.names import (
    LENET,
    NOTES_SIDE,
    NOTES_US_PER_IMAGE,
    SMALL_BATCH,
    US_PER_IMAGE,
    batch,
    of_net,
)
from stages.convergence.measure.params import Params

NOTES_BATCH = 256


def measure(start: int) -> list[Measurement]:
    """Measure once."""
    disable_malloc_trim()
    params = load(Params)
    return measure_times(params, resolve(1, params.devices), start)


def measure_times(params: Params, devices: Devices, start: int) -> list[Measurement]:
    """Microseconds per image of a step: at the batches that are trained, and at the notes' pixels.

    Of the notes' pixels, their batch and a small one are timed in turn.
    """
    side = params.convergence.image_side
    of_nets = [
        _per_image(of_net(US_PER_IMAGE, net), net, side, p.batch_sizes, params, devices, start)
        for net, p in params.convergence.nets.items()
    ]
    sizes = [SMALL_BATCH, NOTES_BATCH]
    notes = _per_image(NOTES_US_PER_IMAGE, LENET, NOTES_SIDE, sizes, params, devices, start)
    return [*chain(*of_nets), *notes]


def _per_image(
    experiment: str,
    net_name: str,
    side: int,
    sizes: list[int],
    params: Params,
    devices: Devices,
    start: int,
) -> list[Measurement]:
    device, generator = devices.devices[0], torch.Generator().manual_seed(params.seed)
    net = make_net(net_name, generator, side).to(device)
    X = torch.rand(max(sizes), side, side, 1, generator=generator).permute(0, 3, 1, 2).to(device)
    images = Images(X, torch.randint(10, (len(X),), generator=generator).to(device))
    variants = {batch(n): partial(sgd_step, net, images.first(n), 0.0) for n in sizes}
    times = time_variants(variants, devices.devices[:1], params.bench, start)
    of_image = {batch(n): tuple(t / n for t in times[batch(n)]) for n in sizes}
    return in_unit(experiment, 0, of_image, "us", devices)
