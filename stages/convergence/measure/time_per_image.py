"""Time per image in a training step, by batch size, measured in a fresh process."""

from functools import partial

import torch

from lab.data.images import Images
from lab.machine.allocator import disable_malloc_trim
from lab.machine.devices import Devices, resolve
from lab.results.measurements import Measurement
from lab.timing.bench import time_variants
from lab.training.short_training import make_net
from lab.training.update_steps import sgd_step
from stages.convergence.measure.names import LENET, NOTES_BATCH, PLAIN, SMALL_BATCH
from stages.convergence.measure.params import Params

NOTES_SIDE = 28


def measure_times(process: int, params: Params) -> list[Measurement]:
    """Measure microseconds per image in a step, for each trained batch size.

    At the notes' image size, alternate the notes' batch and a small one.
    """
    disable_malloc_trim()
    devices, p = resolve(1, params.devices), params.convergence
    measured = []
    for net, of_net in p.nets.items():
        trained = p.image_side, of_net.batch_sizes
        measured += _us_per_image("us_per_image", net, *trained, params, devices, process)
    notes = NOTES_SIDE, [SMALL_BATCH, NOTES_BATCH]
    measured += _us_per_image("notes_us_per_image", LENET, *notes, params, devices, process)
    return measured


def _us_per_image(
    experiment: str,
    net_name: str,
    side: int,
    sizes: list[int],
    params: Params,
    devices: Devices,
    process: int,
) -> list[Measurement]:
    device, generator = devices.devices[0], torch.Generator().manual_seed(params.seed)
    net = make_net(net_name, generator, side).to(device)
    X = torch.rand(max(sizes), side, side, 1, generator=generator).permute(0, 3, 1, 2).to(device)
    images = Images(X, torch.randint(10, (len(X),), generator=generator).to(device))
    steps = {str(n): partial(sgd_step, net, images.first(n), 0.0) for n in sizes}
    seconds = time_variants(steps, devices.devices[:1], params.bench, process)
    return [
        Measurement(
            experiment,
            PLAIN,
            0,
            tuple(1e6 * s / n for s in seconds[str(n)]),
            "us",
            devices.kind,
            devices.threads,
            columns={"net": net_name, "pixels": side, "batch_size": n},
        )
        for n in sizes
    ]
