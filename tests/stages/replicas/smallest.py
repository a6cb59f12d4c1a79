import torch

from lab.core.shared_params import DeviceParams
from lab.data import synthetic
from lab.machine.devices import Devices
from lab.results.measurements import Measurement
from stages.replicas.__main__ import measure
from stages.replicas.measure.names import PROGRAMS
from stages.replicas.measure.params import AccuracyParams, BatchNormParams, Params, ReplicaParams

PARAMS = Params(
    seed=0,
    devices=DeviceParams(cpu_threads=1),
    replicas=ReplicaParams(
        num_devices=2,
        batch_size=9,
        num_steps=3,
        accuracy=AccuracyParams(num_seeds=1, num_epochs=1, train_images=9, test_images=9),
        batch_norm=BatchNormParams(
            num_seeds=1,
            images_per_device=3,
            num_steps=2,
            test_images=9,
            gradient_images_per_device=[2],
        ),
    ),
)


def results() -> list[Measurement]:
    images, labels = synthetic.fashion(9, 0)
    some = (torch.tensor(images), torch.tensor(labels).long())
    on_one_gpu = [Measurement("with_one_gpu", name, 0, (0.0,)) for name in PROGRAMS]
    devices = Devices("cpu-virtual", [torch.device("cpu")] * 2, 1)
    return [*measure(PARAMS, devices, some, some), *on_one_gpu]
