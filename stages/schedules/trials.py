"""LeNet under each schedule, from two kinds of weights, and under Adam at two rates."""

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray

from lab.data.images import Images
from lab.data.order import batches
from lab.optim.schedules import after_epoch, constant
from lab.optim.update_rules import adam
from lab.parallel.device_workers import side_by_side
from lab.parallel.replicas import forward_backward, grad_of
from lab.results.curves import Curve, line
from lab.training.short_training import SmallLeNet, accuracy_of
from stages.schedules import names
from stages.schedules.book_schedules import EPOCHS, SCHEDULES
from stages.schedules.params import ScheduleParams
from stages.schedules.short_runs import stretched, train

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
    jobs = [(name, False, plan) for name, plan in plans.items()]
    yield from _accuracies(names.ACCURACY, jobs, (train_set, test_set), params, seed)


def try_starts(
    train_set: Images, test_set: Images, params: ScheduleParams, seed: int
) -> Iterator[Curve]:
    """The test accuracy from scaled weights and from the notes', by seed, at the notes' rate."""
    plan = stretched(constant(NOTES_RATE), params.steps)
    jobs = [(names.SCALED, False, plan), (names.NOTES_START, True, plan)]
    yield from _accuracies(names.START_ACCURACY, jobs, (train_set, test_set), params, seed)


def _accuracies(
    demo: str,
    arms: list[tuple[str, bool, list[float]]],
    sets: tuple[Images, Images],
    params: ScheduleParams,
    seed: int,
) -> Iterator[Curve]:
    """A curve of each arm: its name, whether it has the notes' weights, and its rates."""
    train_set, test_set = sets
    device, seeds = train_set.X.device, range(params.num_seeds)

    def run(job: tuple[bool, list[float], int]) -> float:
        notes_start, rates, i = job
        generator = torch.Generator().manual_seed(seed + i)
        net = SmallLeNet(generator, params.image_side, notes_start).to(device)
        train(net, train_set, rates, params.batch_size, generator)
        accuracy = accuracy_of(net, test_set)
        return 100 * (CHANCE if accuracy is None else accuracy)

    jobs = [(notes_start, rates, i) for _, notes_start, rates in arms for i in seeds]
    ends = side_by_side(run, jobs, device)
    found: NDArray[np.float64] = np.array(ends).reshape(len(arms), -1)
    for (name, _, _), accuracies in zip(arms, found, strict=True):
        yield line(demo, name, seeds, accuracies)


def measure_adam_steps(train_set: Images, params: ScheduleParams, seed: int) -> Iterator[Curve]:
    """The mean length of LeNet's first steps with the notes' Adam at two rates, by seed."""
    device, seeds = train_set.X.device, range(params.num_seeds)

    def length(job: tuple[float, int]) -> float:
        lr, i = job
        generator = torch.Generator().manual_seed(seed + i)
        net, rule = SmallLeNet(generator, params.image_side).to(device), adam(lr)
        states = [rule.init(p.detach()) for p in net.parameters()]
        order = batches(len(train_set.y), params.batch_size, generator)
        lengths = []
        for _ in range(ADAM_STEPS):
            forward_backward(net, *train_set.at(next(order).to(device)))
            squares = 0.0
            for k, p in enumerate(net.parameters()):
                new, states[k] = rule.update(p.detach(), grad_of(p) / params.batch_size, states[k])
                squares += float(((new - p.detach()) ** 2).sum())
                p.data, p.grad = new, None
            lengths.append(squares**0.5)
        return float(np.mean(lengths))

    jobs = [(lr, i) for lr in ADAM_RATES.values() for i in seeds]
    ends = side_by_side(length, jobs, device)
    found: NDArray[np.float64] = np.array(ends).reshape(len(ADAM_RATES), -1)
    for name, lengths in zip(ADAM_RATES, found, strict=True):
        yield line(names.ADAM_STEP, name, seeds, lengths)
