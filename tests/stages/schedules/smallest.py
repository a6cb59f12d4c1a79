import torch

from lab.data import synthetic
from lab.data.datasets import Split
from lab.machine.devices import Devices
from lab.results.measurements import Measurement
from stages.schedules.__main__ import measure
from stages.schedules.measure.params import HighestRateParams, ScheduleParams, SearchParams

LENET = SearchParams(seeds=2, batch_size=32, steps=30, first_rate=0.4, resolution=1.9)
RESNET18 = SearchParams(seeds=0, batch_size=32, steps=10, first_rate=0.4, resolution=1.9)
PARAMS = ScheduleParams(
    image_side=14,
    train_images=256,
    num_seeds=2,
    batch_size=32,
    steps=20,
    highest_rate=HighestRateParams(lenet=LENET, resnet18=RESNET18),
)


def results() -> list[Measurement]:
    images, labels = synthetic.fashion(PARAMS.train_images, 0)
    split = Split(images, labels.astype("int64"))
    devices = Devices("cpu-virtual", [torch.device("cpu")], 1)
    return measure(PARAMS, devices, split, split, seed=0)
