"""What one start of a process measures."""

import torch

from lab.core.params import load
from lab.data.datasets import read_fashion_mnist
from lab.data.images import to_tensors
from lab.machine.devices import Devices, resolve
from lab.results.measurements import Measurement
from stages.bench_input.measure.feeds import measure_feeds
from stages.bench_input.measure.params import Params
from stages.bench_input.measure.python_overhead import measure_python
from stages.bench_input.measure.step_parts import measure_steps


def training_devices(params: Params) -> Devices:
    """The devices of a step: two, unless there is one GPU."""
    return resolve(1 if torch.cuda.device_count() == 1 else 2, params.devices)


def measure(start: int) -> list[Measurement]:
    """The feeds, then the parts of training steps, then the calls of one."""
    params = load(Params)
    devices = training_devices(params)
    images, labels = to_tensors(read_fashion_mnist("train"))
    resident = (images.to(devices.devices[0]), labels.to(devices.devices[0]))
    return [
        *measure_feeds(params, resident, devices, start),
        *measure_steps(params, resident, devices, start),
        *measure_python(params, resident, devices, start),
    ]
