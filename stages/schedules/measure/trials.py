"""LeNet under each schedule, from two kinds of weights, and under Adam at two rates."""

from collections.abc import Iterator, Mapping
from itertools import product

import numpy as np
import torch

from lab.data.images import Images
from lab.data.order import batches
from lab.optim.schedules import after_epoch, constant
from lab.optim.update_rules import adam
from lab.parallel.device_workers import side_by_side
from lab.results.curves import Curve, line
from lab.training.short_training import SmallLeNet, accuracy_of
from lab.training.update_steps import RuleSteps
from stages.schedules.measure import names
from stages.schedules.measure.book_schedules import EPOCHS, SCHEDULES
from stages.schedules.measure.params import ScheduleParams
from stages.schedules.measure.short_runs import stretched, train

CHANCE = 0.1  # the accuracy of weights that are no longer finite
NOTES_RATE = 0.2  # of the notes' LeNet
ADAM_RATES = {names.ADAM_RATE: 0.001, names.TENFOLD: 0.01}
ADAM_STEPS = 20


def try_schedules(
    train_set: Images, test_set: Images, params: ScheduleParams, seed: int
) -> Iterator[Curve]:
    """The test accuracy (percent) in which each schedule ends, by seed."""
    plans = {name: stretched(schedule, params.steps) for name, schedule in SCHEDULES.items()}
    as_the_book = after_epoch(SCHEDULES[names.COSINE_WARM_UP], EPOCHS, params.steps)
    plans[names.AS_THE_BOOK] = as_the_book[EPOCHS // 2 :: EPOCHS]  # 20 epochs in `steps` steps
    arms = {name: (False, plan) for name, plan in plans.items()}
    yield from _accuracies(names.ACCURACY, arms, (train_set, test_set), params, seed)


def try_starts(
    train_set: Images, test_set: Images, params: ScheduleParams, seed: int
) -> Iterator[Curve]:
    """The test accuracy from scaled weights and from the notes', by seed, at the notes' rate."""
    plan = stretched(constant(NOTES_RATE), params.steps)
    arms = {names.SCALED: (False, plan), names.NOTES_START: (True, plan)}
    yield from _accuracies(names.START_ACCURACY, arms, (train_set, test_set), params, seed)


def _accuracies(
    demo: str,
    arms: Mapping[str, tuple[bool, list[float]]],
    sets: tuple[Images, Images],
    params: ScheduleParams,
    seed: int,
) -> Iterator[Curve]:
    """A curve of each arm, given whether it has the notes' weights, and its rates."""
    train_set, test_set = sets
    device, seeds = train_set.X.device, range(params.num_seeds)

    def run(job: tuple[str, int]) -> float:
        name, i = job
        notes_start, rates = arms[name]
        generator = torch.Generator().manual_seed(seed + i)
        net = SmallLeNet(generator, params.image_side, notes_start).to(device)
        train(net, train_set, rates, params.batch_size, generator)
        accuracy = accuracy_of(net, test_set)
        return 100 * (CHANCE if accuracy is None else accuracy)

    found = side_by_side(demo, run, product(arms, seeds), device)
    for name in arms:
        yield line(demo, name, seeds, [found[name, i] for i in seeds])


def measure_adam_steps(train_set: Images, params: ScheduleParams, seed: int) -> Iterator[Curve]:
    """The mean length of LeNet's first steps with the notes' Adam at two rates, by seed."""
    device, seeds = train_set.X.device, range(params.num_seeds)

    def length(job: tuple[str, int]) -> float:
        name, i = job
        generator = torch.Generator().manual_seed(seed + i)
        net, step = SmallLeNet(generator, params.image_side).to(device), RuleSteps(adam)
        order = batches(len(train_set.y), params.batch_size, generator)
        lengths = []
        for _ in range(ADAM_STEPS):
            before = [p.detach().clone() for p in net.parameters()]
            step(net, train_set.at(next(order).to(device)), ADAM_RATES[name])
            after = zip(net.parameters(), before, strict=True)
            lengths.append(sum(float(((p.detach() - q) ** 2).sum()) for p, q in after) ** 0.5)
        return float(np.mean(lengths))

    found = side_by_side(names.ADAM_STEP, length, product(ADAM_RATES, seeds), device)
    for name in ADAM_RATES:
        yield line(names.ADAM_STEP, name, seeds, [found[name, i] for i in seeds])
