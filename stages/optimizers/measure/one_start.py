"""What a step of torch's AdaGrad costs beside one of SGD, measured in one start of the process."""

from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from lab.core.params import load
from lab.core.shared_params import BenchParams
from lab.machine.devices import Devices, processor, threads_per_device, usable_cores
from lab.nets.lenet import lenet, lenet_params
from lab.results.measurements import Measurement
from lab.timing.bench import in_unit, time_variants
from stages.optimizers.measure import names
from stages.optimizers.measure.params import Params

BATCH_SIZE = 256  # images, as in the notes' training


def measure(start: int) -> list[Measurement]:
    """What start number `start` measures, on the processor."""
    params = load(Params)
    devices = processor(threads_per_device(1, params.devices.cpu_threads, usable_cores()))
    return step_times(params.bench, devices, start)


def step_times(params: BenchParams, devices: Devices, start: int) -> list[Measurement]:
    """Milliseconds of a step of LeNet with either optimizer, and of its loss and gradient alone."""
    generator = torch.Generator().manual_seed(0)
    X = torch.rand(BATCH_SIZE, 1, 28, 28, generator=generator)
    y = torch.randint(10, (BATCH_SIZE,), generator=generator)

    def weights() -> list[Tensor]:
        return [p.requires_grad_() for p in lenet_params(generator)]

    with_sgd, with_adagrad, alone = weights(), weights(), weights()
    sgd, adagrad = torch.optim.SGD(with_sgd, lr=0.01), torch.optim.Adagrad(with_adagrad, lr=0.01)
    variants = {
        names.SGD_STEP: partial(_step, with_sgd, X, y, sgd),
        names.ADAGRAD_STEP: partial(_step, with_adagrad, X, y, adagrad),
        names.LOSS_AND_GRADIENT: partial(_loss_and_gradient, alone, X, y),
    }
    times = time_variants(variants, devices.devices, params, start, control=names.ADAGRAD_STEP)
    return in_unit(names.STEP_TIME, BATCH_SIZE, times, "ms", devices)


def _step(params: list[Tensor], X: Tensor, y: Tensor, optimizer: torch.optim.Optimizer) -> None:
    _loss_and_gradient(params, X, y)
    optimizer.step()


def _loss_and_gradient(params: list[Tensor], X: Tensor, y: Tensor) -> None:
    for p in params:
        p.grad = None
    F.cross_entropy(lenet(X, params), y).backward()
