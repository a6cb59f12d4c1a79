"""Schedules tried on small networks: each of them over seeds, and warm-up at high base rates."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from lab.optim.schedules import after_epoch, cosine, per_step, warm_up
from lab.results.curves import Curve, curve, line
from stages.schedules import batched_nets, names
from stages.schedules.book_schedules import EPOCHS, FINAL, SCHEDULES
from stages.schedules.params import ScheduleParams

Images = tuple[Tensor, Tensor, Tensor, Tensor]  # X (n, 196), y, X_test, y_test


def tried(images: Images, params: ScheduleParams, seed: int) -> Iterator[Curve]:
    """Training loss per epoch and final test accuracy of each schedule, over seeds."""
    per_epoch = len(images[1]) // params.batch_size
    plans = {name: per_step(schedule, EPOCHS, per_epoch) for name, schedule in SCHEDULES.items()}
    plans[names.AS_THE_BOOK] = after_epoch(SCHEDULES[names.COSINE_WARM_UP], EPOCHS, per_epoch)
    outcome = _train_all(images, list(plans.values()), params, seed)
    for i, name in enumerate(plans):
        mine = slice(i * params.num_seeds, (i + 1) * params.num_seeds)
        losses = outcome.losses[:, mine].double().numpy()
        yield curve(names.LOSS, name, np.arange(1, EPOCHS + 1), list(losses))
        yield curve(names.ACCURACY, name, [EPOCHS], [outcome.accuracy[mine].numpy()])


def warm_up_tested(images: Images, params: ScheduleParams, seed: int) -> Iterator[Curve]:
    """Per arm, against the base rate: the share of seeds that failed, and the others' accuracy."""
    per_epoch = len(images[1]) // params.batch_size
    plans = []
    for base in params.high_rates:
        plain = cosine(base, FINAL, params.num_epochs)
        cooling = cosine(base, FINAL, params.num_epochs - params.warm_up_epochs)
        warm = warm_up(cooling, params.warm_up_epochs)
        plans += [
            per_step(plain, params.num_epochs, per_epoch),
            per_step(warm, params.num_epochs, per_epoch),
            after_epoch(warm, params.num_epochs, per_epoch),
        ]
    outcome = _train_all(images, plans, params, seed)
    shape = (len(params.high_rates), 3, params.num_seeds)
    failures = outcome.failed.view(shape).double().numpy()
    accuracies = np.where(failures > 0, np.nan, outcome.accuracy.view(shape).numpy())
    for i, arm in enumerate((names.NO_WARM_UP, names.WARM_UP, names.AS_THE_BOOK)):
        yield line(names.FAILURES, arm, params.high_rates, failures[:, i].mean(1))
        yield curve(names.ACCURACY_BY_RATE, arm, params.high_rates, list(accuracies[:, i]))


def _train_all(
    images: Images, plans: list[list[float]], params: ScheduleParams, seed: int
) -> batched_nets.Outcome:
    """Train each plan of rates from each seed: model i * num_seeds + j is plan i from seed j."""
    columns = torch.tensor(plans).repeat_interleave(params.num_seeds, 0).T.contiguous()
    seeds = [seed + j for j in range(params.num_seeds)] * len(plans)
    return batched_nets.train(*images, seeds, columns, params.batch_size, seed)
