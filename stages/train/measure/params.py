"""The params that `train` reads."""

from lab.core.params import Section
from lab.core.shared_params import DeviceParams, Seed
from lab.training.run_params import TrainParams


class Params(Section):
    seed: Seed
    devices: DeviceParams
    train: TrainParams
