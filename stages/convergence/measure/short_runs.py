"""Test accuracy after equally many images, by the age of the gradients."""

from collections.abc import Iterator
from functools import partial

import torch

from lab.data.images import Images
from lab.data.order import batches
from lab.parallel.workers import map_with_progress
from lab.results.curves import Curve, line
from lab.training.short_training import SmallLeNet, accuracy_or_chance
from lab.training.update_steps import StaleSteps
from stages.convergence.measure.names import SHORT_RUN, stale
from stages.convergence.measure.params import ConvergenceParams


def measure_short_runs(
    params: ConvergenceParams, train_set: Images, test_set: Images, seed: int
) -> Iterator[Curve]:
    """Each variant's test accuracy (percent) after `short_images`, by seed."""
    seeds = range(params.lenet.num_seeds)
    for staleness in params.staleness:
        run = partial(_accuracy, params, train_set, test_set, staleness, seed)
        found = map_with_progress(stale(staleness), run, seeds, train_set.y.device)
        yield line(SHORT_RUN, stale(staleness), seeds, list(found.values()))


def _accuracy(
    params: ConvergenceParams,
    train_set: Images,
    test_set: Images,
    staleness: int,
    seed: int,
    i: int,
) -> float:
    batch_size, device = params.lenet.batch_sizes[0], train_set.y.device
    generator = torch.Generator().manual_seed(seed + i)
    net, step = SmallLeNet(generator, params.image_side).to(device), StaleSteps(staleness)
    order = batches(len(train_set.y), batch_size, generator)
    for _ in range(max(1, params.short_images // batch_size)):
        step(net, train_set.at(next(order).to(device)), params.lenet.lr)
    return 100 * accuracy_or_chance(net, test_set)
