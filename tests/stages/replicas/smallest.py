from unittest.mock import patch

import torch

from lab.core.files import Metrics
from lab.core.shared_params import DeviceParams
from lab.data import synthetic
from lab.results.curves import Curve
from stages.replicas import batch_norm
from stages.replicas.__main__ import Params, measure, summarise
from stages.replicas.params import ReplicaParams

PARAMS = Params(
    seed=0,
    devices=DeviceParams(cpu_threads=1),
    replicas=ReplicaParams(num_devices=2, batch_size=9, num_steps=3, batch_norm_images=4),
)


def results() -> tuple[list[Curve], Metrics]:
    images, labels = synthetic.fashion(9, 0)
    with patch.object(batch_norm, "DEVICE_COUNTS", (2,)):
        curves = measure(PARAMS, (torch.tensor(images), torch.tensor(labels).long()))
    return curves, summarise(curves)
