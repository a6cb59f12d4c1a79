"""The time of an image in a step of training, by batch size."""

from functools import partial

import numpy as np
import torch

from lab.machine.devices import Devices
from lab.results.curves import Curve, curve
from lab.timing.bench import time_arms
from stages.convergence.names import ONE_DEVICE, US_PER_IMAGE
from stages.convergence.params import Params
from stages.convergence.train_to_target import Images, ScaledLeNet, take_step


def measure_image_time(params: Params, devices: Devices, train_set: Images) -> Curve:
    """Microseconds per image of a step at each batch size, measured in turn."""
    p = params.convergence
    generator = torch.Generator().manual_seed(params.seed)
    net = ScaledLeNet(generator, p.image_side).to(devices.devices[0])
    arms = {
        str(n): partial(take_step, net, Images(train_set.X[:n], train_set.y[:n]), 0.0)
        for n in p.batch_sizes
    }
    times = time_arms(arms, devices.devices[:1], params.bench)
    samples = [1e6 * np.array(times[str(n)]) / n for n in p.batch_sizes]
    return curve(US_PER_IMAGE, ONE_DEVICE, p.batch_sizes, samples)
