"""torch's own optimizers in the notes' concise airfoil runs."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lab.optim.objectives import Array, excess
from lab.results.curves import Curve, curve, line
from stages.optimizers.measure import names
from stages.optimizers.measure.linear_regression import Problem, batches, initial

BATCH_SIZE = 10
MakeOptimizer = Callable[[list[Tensor]], torch.optim.Optimizer]
OPTIMIZERS: dict[str, MakeOptimizer] = {
    names.MOMENTUM_0005: lambda params: torch.optim.SGD(params, lr=0.005, momentum=0.9),
    names.ADAGRAD_01: lambda params: torch.optim.Adagrad(params, lr=0.1),
    names.ADAM_001: lambda params: torch.optim.Adam(params, lr=0.01),
}


class Settings(NamedTuple):
    """In what a run with torch's optimizer may differ from the one from scratch."""

    loss_factor: float
    own_start: bool  # torch's default start of the bias, not 0
    num_epochs: int


FROM_SCRATCH = Settings(0.5, own_start=False, num_epochs=2)
CONCISE = Settings(1.0, own_start=True, num_epochs=4)


def concise_runs(task: Problem, num_seeds: int, seed: int) -> Iterator[Curve]:
    """The notes' concise runs, and the same optimizers with everything else as from scratch."""
    seeds = np.arange(num_seeds)
    for name in OPTIMIZERS:
        same = descents(name, FROM_SCRATCH, task, num_seeds, seed)
        yield line(names.ONLY_THE_OPTIMIZER, name, seeds, same[-1])
        found = descents(name, CONCISE, task, num_seeds, seed)
        yield line(names.AFTER_TWO_EPOCHS, name, seeds, found[2])
        yield curve(names.NOTES_RUNS, names.concise(name), np.arange(len(found)), list(found))


def descents(name: str, settings: Settings, task: Problem, num_seeds: int, seed: int) -> Array:
    """The excess (epochs + 1, seeds) before each epoch and at the end."""
    starts = initial(num_seeds, task.X.shape[1], seed)
    return np.stack(
        [_descent(name, settings, task, w, seed + i) for i, w in enumerate(starts)], axis=1
    )


def _descent(name: str, settings: Settings, task: Problem, w: Array, seed: int) -> Array:
    """The excess (epochs + 1,) of one run in float32, as torch's users compute."""
    X, y = torch.from_numpy(task.X).float(), torch.from_numpy(task.y).float()[:, None]
    features = X[:, :-1].contiguous()  # the last column is the bias's
    net = _linear(w, settings.own_start, seed)
    optimizer = OPTIMIZERS[name](list(net.parameters()))
    per_epoch = len(y) // BATCH_SIZE
    readings = [_weights(net)]
    for step, rows in enumerate(
        batches(len(y), BATCH_SIZE, settings.num_epochs * per_epoch, seed), start=1
    ):
        optimizer.zero_grad()
        loss = settings.loss_factor * F.mse_loss(net(features[rows]), y[rows])
        loss.backward()
        optimizer.step()
        if step % per_epoch == 0:
            readings.append(_weights(net))
    return excess(np.stack(readings), task.hessian, task.minimiser)


def _linear(w: Array, own_start: bool, seed: int) -> nn.Linear:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = nn.Linear(len(w) - 1, 1)
    with torch.no_grad():
        net.weight.copy_(torch.from_numpy(w[None, :-1]))
        if not own_start:
            net.bias.fill_(w[-1])
    return net


def _weights(net: nn.Linear) -> Array:
    parts = [net.weight.detach()[0], net.bias.detach()]
    return torch.cat(parts).double().numpy()
